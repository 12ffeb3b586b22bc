"""Reads the weights of an exported model.onnx back into the network, so that evaluate.py measures what is committed."""

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from model import Model


def load_exported(path):
    """The network of an exported model."""
    old = Weights(path)
    grus = old.nodes("GRU")
    convolutions = old.nodes("Conv")
    channels = [old.inputs(node, 2)[0].shape[0] for node in convolutions]
    model = Model(old.inputs(grus[0], 2)[0].shape[-1], channels)
    with torch.no_grad():
        model.mean.copy_(old.named("mean"))
        model.scale.copy_(old.named("scale"))
        for layer, node in zip((model.conv1, model.conv2), convolutions):
            weight, bias = old.inputs(node, 1, 2)
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        for layer, node in zip((model.gru1, model.gru2), grus):
            weight, recurrent, bias = (each[0] for each in old.inputs(node, 1, 2, 3))
            half = len(bias) // 2
            layer.weight_ih_l0.copy_(in_order(weight))
            layer.weight_hh_l0.copy_(in_order(recurrent))
            layer.bias_ih_l0.copy_(in_order(bias[:half]))
            layer.bias_hh_l0.copy_(in_order(bias[half:]))
        model.out.weight.copy_(old.inputs(old.nodes("MatMul")[0], 1)[0].T)
        model.out.bias.copy_(old.named("out.bias"))
    return model


def in_order(parameter):
    """One parameter of a GRU: ONNX has its gates as z, r, n, torch as r, z, n."""
    update, reset, new = parameter.chunk(3)
    return torch.cat([reset, update, new])


class Weights:
    """The tensors of an ONNX file, by name and by node."""

    def __init__(self, path):
        self.graph = onnx.load(str(path)).graph
        self.tensors = {each.name: torch.from_numpy(np.copy(numpy_helper.to_array(each))) for each in self.graph.initializer}

    def named(self, ending):
        """The tensor whose name has this ending."""
        return next(value for name, value in self.tensors.items() if name.endswith(ending))

    def nodes(self, kind):
        """The nodes of one operator, in order."""
        return [each for each in self.graph.node if each.op_type == kind]

    def inputs(self, node, *numbers):
        """Some inputs of a node."""
        return [self.tensors[node.input[number]] for number in numbers]
