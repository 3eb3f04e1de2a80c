"""llama.cpp's own HTTP server over one GGUF file, on a port of the system's choice: llama_server.py MODEL.gguf

Prints its address when it is ready and serves until its standard input ends. The server is the C++ one inside the package
xllamacpp, which `make setup` unpacks to .cache/llama; nothing of it is installed.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".cache" / "llama"))
import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 2
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
