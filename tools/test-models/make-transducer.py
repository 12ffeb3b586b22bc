"""Makes transducers of CTC models, with the same results: a streaming one of models/is-IS-starter, in
the layout that sherpa-onnx calls lstm, and with --whole one for whole utterances of
test/models/is-IS-whole.

encoder.onnx is the model's network and the rule of CTC: a letter that was recognized in the previous
frame is not a new one, so its share goes to blank. The streaming one keeps the previous frame in its
second state. Blank is token 0, as in all transducers. decoder.onnx returns the last token, and
joiner.onnx adds both: the last token is a little less likely. Weights are stored with 16 bits.

Debian 12: apt-get install python3-numpy python3-onnx. Takes a second.
Run: /usr/bin/python3 tools/test-models/make-transducer.py models/is-IS-starter/model.onnx test/models/is-IS-transducer
     /usr/bin/python3 tools/test-models/make-transducer.py --whole test/models/is-IS-whole/model.onnx test/models/is-IS-whole-transducer
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
tensor = helper.make_tensor_value_info
LAST_TOKEN = -0.1


def halved(initializers):
    """16-bit weights, with the nodes that widen them."""
    kept, widened = [], []
    for each in initializers:
        array = numpy_helper.to_array(each)
        if array.dtype == np.float32 and array.size > 1000:
            kept.append(numpy_helper.from_array(array.astype(np.float16), each.name + " 16"))
            widened.append(node("Cast", [each.name + " 16"], [each.name], to=TensorProto.FLOAT))
        else:
            kept.append(each)
    return kept, widened


def needed(nodes, outputs):
    """Nodes that these outputs come from, in order."""
    wanted, kept = set(outputs), []
    for each in reversed(nodes):
        if wanted.intersection(each.output):
            kept.append(each)
            wanted.update(each.input)
    return kept[::-1]


def save(path, nodes, inputs, outputs, initializers, metadata):
    graph = helper.make_graph(nodes, "model", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(path, os.path.getsize(path), "bytes")


def collapsed(logprobs, blank, vocabulary):
    """From scores and "frame before" to encoder_out: a letter again is blank, as CTC has it. With the constants that this needs."""
    order = [blank] + [token for token in range(vocabulary) if token != blank]
    nodes = [
        node("Gather", [logprobs, "order"], ["scores"], axis=2),
        node("Slice", ["scores", "zero", "minus one", "second"], ["all but last"]),
        node("Concat", ["frame before", "all but last"], ["frames before"], axis=1),
        node("ArgMax", ["frames before"], ["tokens before"], axis=2, keepdims=0),
        node("OneHot", ["tokens before", "count", "off and on"], ["any before"], axis=2),
        node("Mul", ["any before", "letters"], ["letter before"]),
        # How likely that letter is, and -100 where blank was before.
        node("Mul", ["scores", "letter before"], ["its score"]),
        node("ReduceSum", ["its score", "third"], ["again"], keepdims=1),
        node("ReduceSum", ["letter before", "third"], ["was letter"], keepdims=1),
        node("Sub", ["was letter", "one"], ["minus was blank"]),
        node("Mul", ["minus was blank", "hundred"], ["never"]),
        node("Add", ["again", "never"], ["to blank"]),
        node("Split", ["scores", "blank and letters"], ["blank score", "letter scores"], axis=2),
        node("Max", ["blank score", "to blank"], ["new blank score"]),
        node("Concat", ["new blank score", "letter scores"], ["with blank"], axis=2),
        node("Mul", ["letter before", "hundred"], ["forbidden"]),
        node("Sub", ["with blank", "forbidden"], ["encoder_out"]),
    ]
    constants = {
        "order": np.array(order),
        "blank and letters": np.array([1, vocabulary - 1]),
        "count": np.array(vocabulary),
        "zero": np.array([0]),
        "second": np.array([1]),
        "third": np.array([2]),
        "minus one": np.array([-1]),
        "off and on": np.array([0, 1], np.float32),
        "one": np.array(1, np.float32),
        "hundred": np.array(100, np.float32),
        "letters": np.array([0] + [1] * (vocabulary - 1), np.float32),
    }
    return nodes, constants


def named(constants):
    return [numpy_helper.from_array(value, name) for name, value in constants.items()]


def make_streaming_encoder(starter, path, blank, vocabulary):
    metadata = {each.key: each.value for each in starter.metadata_props}
    window, hidden = int(metadata["window_size"]), int(metadata["cache_last_channel_dim3"])
    inputs = [each.name for each in starter.graph.input]
    logprobs, _, next_one, next_two, _ = [each.name for each in starter.graph.output]
    weights, widened = halved(starter.graph.initializer)
    before = [
        node("Transpose", ["x"], [inputs[0]], perm=[0, 2, 1]),
        node("Transpose", ["h"], ["h by stream"], perm=[1, 0, 2]),
        node("Unsqueeze", ["h by stream", "second"], [inputs[2]]),
        node("Split", ["c", "widths"], ["c state", "c frame"], axis=2),
        node("Transpose", ["c state"], ["c by stream"], perm=[1, 0, 2]),
        node("Unsqueeze", ["c by stream", "second"], [inputs[3]]),
        node("Transpose", ["c frame"], ["frame before"], perm=[1, 0, 2]),
    ]
    collapse, constants = collapsed(logprobs, blank, vocabulary)
    after = [
        node("Slice", ["scores", "minus one", "end", "second"], ["last frame"]),
        node("Squeeze", [next_one, "second"], ["h out"]),
        node("Transpose", ["h out"], ["next_h"], perm=[1, 0, 2]),
        node("Squeeze", [next_two, "second"], ["c out"]),
        node("Concat", ["c out", "last frame"], ["c and frame"], axis=2),
        node("Transpose", ["c and frame"], ["next_c"], perm=[1, 0, 2]),
    ]
    constants["widths"] = np.array([hidden, vocabulary])
    constants["end"] = np.array([1 << 30])
    save(
        path,
        widened + before + needed(starter.graph.node, [logprobs, next_one, next_two])
        + collapse
        + after,
        [
            tensor("x", TensorProto.FLOAT, ["N", window, 80]),
            tensor("h", TensorProto.FLOAT, [1, "N", hidden]),
            tensor("c", TensorProto.FLOAT, [1, "N", hidden + vocabulary]),
        ],
        [
            tensor("encoder_out", TensorProto.FLOAT, ["N", "frames", vocabulary]),
            tensor("next_h", TensorProto.FLOAT, [1, "N", hidden]),
            tensor("next_c", TensorProto.FLOAT, [1, "N", hidden + vocabulary]),
        ],
        weights + named(constants),
        {
            "model_type": "lstm",
            "version": 1,
            "num_encoder_layers": 1,
            "T": window,
            "decode_chunk_len": int(metadata["chunk_shift"]),
            "d_model": hidden,
            "rnn_hidden_size": hidden + vocabulary,
        },
    )


def make_whole_encoder(whole, path, blank, vocabulary):
    features, _ = [each.name for each in whole.graph.input]
    logprobs, lengths = [each.name for each in whole.graph.output]
    weights, widened = halved(whole.graph.initializer)
    collapse, constants = collapsed(logprobs, blank, vocabulary)
    constants["frame before"] = np.zeros((1, 1, vocabulary), np.float32)
    nodes = list(whole.graph.node) + [node("Identity", [lengths], ["encoder_out_lens"])]
    save(
        path,
        widened + nodes + collapse,
        list(whole.graph.input),
        [
            tensor("encoder_out", TensorProto.FLOAT, ["N", "frames", vocabulary]),
            tensor("encoder_out_lens", TensorProto.INT64, ["N"]),
        ],
        weights + named(constants),
        {"model_type": "zipformer2"},
    )


def make_decoder(path, vocabulary):
    nodes = [
        node("Squeeze", ["y", "second"], ["last"]),
        # The token before the first one is blank, which is not made less likely.
        node("Gather", ["table", "last"], ["decoder_out"]),
    ]
    table = np.eye(vocabulary, dtype=np.float32) * LAST_TOKEN
    table[0] = 0
    save(
        path,
        nodes,
        [tensor("y", TensorProto.INT64, ["N", 1])],
        [tensor("decoder_out", TensorProto.FLOAT, ["N", vocabulary])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "second")],
        {"vocab_size": vocabulary, "context_size": 1},
    )


def make_joiner(path, vocabulary):
    save(
        path,
        [node("Add", ["encoder_out", "decoder_out"], ["logit"])],
        [
            tensor("encoder_out", TensorProto.FLOAT, ["N", vocabulary]),
            tensor("decoder_out", TensorProto.FLOAT, ["N", vocabulary]),
        ],
        [tensor("logit", TensorProto.FLOAT, ["N", vocabulary])],
        [],
        {"joiner_dim": vocabulary},
    )


if __name__ == "__main__":
    is_whole = sys.argv[1] == "--whole"
    source, folder = sys.argv[-2:]
    os.makedirs(folder, exist_ok=True)
    with open("models/is-IS-starter/tokens.txt", encoding="utf-8") as file:
        tokens = [line.split()[0] for line in file]
    blank = tokens.index("<blk>")
    make = make_whole_encoder if is_whole else make_streaming_encoder
    make(onnx.load(source), os.path.join(folder, "encoder.onnx"), blank, len(tokens))
    make_decoder(os.path.join(folder, "decoder.onnx"), len(tokens))
    make_joiner(os.path.join(folder, "joiner.onnx"), len(tokens))
    tokens.insert(0, tokens.pop(blank))
    with open(os.path.join(folder, "tokens.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{token} {at}\n" for at, token in enumerate(tokens))
