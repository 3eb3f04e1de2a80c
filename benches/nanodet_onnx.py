"""The detector's published weights (TensorFlow.js) as an f32 ONNX file, for benchmarks and plain scripts.

    python benches/nanodet_onnx.py models/captioner nanodet.onnx

The graph is RangiLyu/nanodet `nanodet-g.yml` with batch norms folded: 34 convolutions, LeakyReLU 0.1 after all 3x3
ones. Input: 1x3x416x416 normalised BGR. Outputs: 1x124xNxN for N = 52, 26, 13, as logits.

Tried with: onnx 1.23.2, numpy 2.4.6.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Between the kernels of the heads the converter numbered shape constants.
HEAD_BIASES = {28: 60, 29: 62, 30: 66, 31: 68, 32: 70, 33: 72}
BYTES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}


def tensors(folder):
    """Name to array, in the order in which the file holds them."""
    manifest = json.loads((folder / "nanodet.json").read_text())["weightsManifest"]
    numbers, at, found = (folder / "nanodet.bin").read_bytes(), 0, {}
    for entry in (entry for group in manifest for entry in group["weights"]):
        kind = BYTES[entry.get("quantization", {}).get("dtype", entry["dtype"])]
        count = int(np.prod(entry["shape"], dtype=np.int64))
        found[entry["name"]] = np.frombuffer(numbers, kind, count, at).reshape(entry["shape"])
        at += count * np.dtype(kind).itemsize
    assert at == len(numbers), f"{len(numbers) - at} bytes are left over"
    return found


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.constants, self.convs = weights, [], [], 0

    def add(self, op, inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def conv(self, *inputs, stride=1):
        """The next convolution over the channels of all inputs; 3x3 ones are followed by LeakyReLU."""
        at, self.convs = self.convs, self.convs + 1
        x = inputs[0] if len(inputs) == 1 else self.add("Concat", list(inputs), axis=1)
        kernel = self.weights["PartitionedCall/split" + (f"_{at}" if at else "")].astype(np.float32).transpose(3, 2, 0, 1)
        bias = self.weights[f"unknown_{HEAD_BIASES.get(at, 2 * at)}"].astype(np.float32).reshape(-1)
        names = [x, self.constant(f"k{at}", kernel), self.constant(f"b{at}", bias)]
        wide = kernel.shape[2] == 3
        x = self.add("Conv", names, strides=[stride] * 2, pads=[int(wide)] * 4)
        return self.add("LeakyRelu", [x], alpha=0.1) if wide else x

    def stage(self, inputs, stride, residuals):
        """Cross stage partial: per residual y = (b(a(y)), a(y)); out = (exit(y), entry)."""
        entry = self.conv(*inputs, stride=stride)
        y = [entry]
        for _ in range(residuals):
            a = self.conv(*y)
            y = [self.conv(a), a]
        return [self.conv(*y), entry]

    def doubled(self, x):
        mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        return self.add("Resize", [x, "", "twice"], **mode)


def convert(folder):
    graph = Graph(tensors(Path(folder)))
    graph.constant("twice", np.array([1, 1, 2, 2], np.float32))
    pooled = graph.add("MaxPool", [graph.conv("picture", stride=2)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    first = graph.stage([pooled], 1, 1)
    second = graph.stage(first, 2, 2)
    third = graph.stage(second, 2, 2)
    fourth = graph.stage(third, 2, 3)
    fine, middle, coarse = graph.conv(*second), graph.conv(*third), graph.conv(*fourth)
    middle = graph.add("Add", [middle, graph.doubled(coarse)])
    fine = graph.add("Add", [fine, graph.doubled(middle)])
    halved = lambda x: graph.add("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    middle = graph.add("Add", [middle, halved(fine)])
    coarse = graph.add("Add", [coarse, halved(middle)])
    heads = [graph.conv(graph.conv(neck)) for neck in (fine, middle, coarse)]
    assert graph.convs == 34
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    outputs = [value(head, [1, 124, side, side]) for head, side in zip(heads, (52, 26, 13))]
    body = helper.make_graph(graph.nodes, "nanodet", [value("picture", [1, 3, 416, 416])], outputs, graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    onnx.save(convert(sys.argv[1]), sys.argv[2])
