"""The judge's ONNX file with its int8 arithmetic replaced by f32, for benchmarks and reference numbers.

    python benches/nli_onnx.py models/judge/model.onnx nli-f32.onnx

Every `DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul` becomes one f32 `MatMul`, with the unquantised matrix
where the file still holds it (query and key projections) and the dequantised one elsewhere; the word vectors are
dequantised. These are the weights that the product reads. The sequence length becomes dynamic.

Tried with: onnx 1.23.2, numpy 2.4.6.
"""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def dequantise(given, base):
    """The f32 tensor behind a quantised initializer, the original if the file has it."""
    if base in given and given[base].dtype == np.float32:
        return given[base]
    q, scale, zero = (given[base + s] for s in ("_quantized", "_scale", "_zero_point"))
    return (q.astype(np.float32) - np.float32(zero)) * np.float32(scale)


def to_f32(model):
    graph = model.graph
    given = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    producer = {o: n for n in graph.node for o in n.output}
    consumers = {}
    for node in graph.node:
        for name in node.input:
            consumers.setdefault(name, []).append(node)
    drop, weights, swap = set(), {}, {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            base = node.input[1].removesuffix("_quantized")
            (cast,) = consumers[node.output[0]]
            (scaled,) = consumers[cast.output[0]]
            quantise = producer[node.input[0]]
            weights[base] = dequantise(given, base)
            swap[scaled.name] = helper.make_node(
                "MatMul", [quantise.input[0], base], [scaled.output[0]], name=node.name + "_f32"
            )
            scales = producer[[i for i in scaled.input if i != cast.output[0]][0]]
            drop |= {id(node), id(cast), id(scales), id(quantise)}
        if node.op_type == "DequantizeLinear":
            gather = producer[node.input[0]]
            base = gather.input[0].removesuffix("_quantized")
            weights[base] = dequantise(given, base)
            swap[node.name] = helper.make_node("Gather", [base, gather.input[1]], [node.output[0]], name=gather.name)
            drop.add(id(gather))
    nodes = [swap.get(n.name, n) for n in graph.node if id(n) not in drop]
    keep = [i for i in graph.initializer if not i.name.endswith(("_quantized", "_scale", "_zero_point"))]
    keep = [i for i in keep if i.name not in weights]
    keep += [numpy_helper.from_array(np.ascontiguousarray(w), n) for n, w in weights.items()]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(keep)
    for i in graph.input:
        i.type.tensor_type.shape.dim[1].dim_param = "length"
    return model


if __name__ == "__main__":
    onnx.save(to_f32(onnx.load(sys.argv[1])), sys.argv[2])
