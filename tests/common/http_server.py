#!/usr/bin/python3
"""A web server for tests on the loopback: the files of a directory, and its JPEGs as an MJPEG camera.

Prints its address on one line of standard output and serves until it is killed. /camera gives every file whose name ends
in .jpg, in the order of the names, for ever, ten a second.

    /usr/bin/python3 tests/common/http_server.py DIRECTORY [--user cam --password 'p@ss/w:rd'] [--tls CERTIFICATE KEY] [--commit HEX]
"""

import argparse
import base64
import http.server
import pathlib
import ssl
import time


def handler(args):
    root = pathlib.Path(args.directory)
    expected = "Basic " + base64.b64encode(f"{args.user}:{args.password}".encode()).decode()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=args.directory)

        def do_GET(self):
            if args.user and self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="camera"')
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif self.path == "/camera":
                self.play()
            else:
                super().do_GET()

        def end_headers(self):
            if args.commit:
                self.send_header("X-Repo-Commit", args.commit)
            super().end_headers()

        def play(self):
            pictures = [path.read_bytes() for path in sorted(root.glob("*.jpg"))]
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=picture")
            self.end_headers()
            try:
                while True:
                    for picture in pictures:
                        head = f"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
                        self.wfile.write(head.encode() + picture + b"\r\n")
                        time.sleep(0.1)
            except ConnectionError:
                pass

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--user", help="ask for this user name (basic authentication)")
    parser.add_argument("--password", help="and this password")
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--commit", help="name this commit in every reply, as a hub does")
    args = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(args))
    server.daemon_threads = True
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"http{'s' if args.tls else ''}://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
