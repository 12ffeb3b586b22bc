"""Takes the weights of an exported model.onnx over into a new model of the same or a larger size."""

import numpy as np
import onnx
import torch
from onnx import numpy_helper


def take_over(model, path):
    """Copies every layer; what the model has beyond the old one begins without any influence, so that at first both compute the same."""
    old = Weights(path)
    with torch.no_grad():
        model.mean.copy_(old.named("mean"))
        model.scale.copy_(old.named("scale", "istd"))
        for layer, node in zip((model.conv1, model.conv2), old.nodes("Conv")):
            weight, bias = old.inputs(node, 1, 2)
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        for layer, node in zip((model.gru1, model.gru2), old.nodes("GRU")):
            weight, recurrent, bias = (each[0] for each in old.inputs(node, 1, 2, 3))
            half = len(bias) // 2
            grow(layer.weight_ih_l0, weight)
            grow(layer.weight_hh_l0, recurrent)
            grow(layer.bias_ih_l0, bias[:half])
            grow(layer.bias_hh_l0, bias[half:])
        weight = old.inputs(old.nodes("MatMul")[0], 1)[0].T
        model.out.weight.zero_()
        model.out.weight[:, : weight.shape[1]] = weight
        model.out.bias.copy_(old.named("out.bias"))


def grow(parameter, old):
    """One parameter of a GRU: ONNX has its gates as z, r, n, torch as r, z, n."""
    hidden, old_hidden = parameter.shape[0] // 3, old.shape[0] // 3
    for gate, old_gate in enumerate((1, 0, 2)):
        block = old[old_gate * old_hidden : (old_gate + 1) * old_hidden]
        rows = parameter[gate * hidden : gate * hidden + old_hidden]
        rows.zero_()
        if parameter.dim() == 1:
            rows.copy_(block)
        else:
            rows[:, : block.shape[1]] = block


class Weights:
    """The tensors of an ONNX file, by name and by node."""

    def __init__(self, path):
        self.graph = onnx.load(str(path)).graph
        self.tensors = {each.name: torch.from_numpy(np.copy(numpy_helper.to_array(each))) for each in self.graph.initializer}

    def named(self, *endings):
        """The tensor whose name has this ending."""
        return next(value for name, value in self.tensors.items() if name.endswith(tuple(endings)))

    def nodes(self, kind):
        """The nodes of one operator, in order."""
        return [each for each in self.graph.node if each.op_type == kind]

    def inputs(self, node, *numbers):
        """Some inputs of a node."""
        return [self.tensors[node.input[number]] for number in numbers]
