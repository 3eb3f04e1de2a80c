"""An endpoint over TLS that answers every chat completion with yes: tls_endpoint.py CERTIFICATE KEY

Prints its address when it is ready and serves until its standard input ends.
"""

import http.server
import json
import ssl
import sys
import threading


class Yes(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        self.rfile.read(int(self.headers["content-length"]))
        said = {"role": "assistant", "content": '{"label": "yes"}'}
        body = json.dumps({"choices": [{"message": said, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes)
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"https://127.0.0.1:{server.server_port}", flush=True)
sys.stdin.read()
