import assert from "node:assert/strict";
import { test } from "node:test";
import { readLibraryResult } from "./library-result.ts";

test("readLibraryResult() reads results of streaming and non-streaming models", () => {
  const streaming =
    '{ "text": "já", "tokens": ["j", "á"], "timestamps": [0.04, 0.12], "ys_probs": [-0.1, -0.2], "words": []}';
  assert.deepEqual(readLibraryResult(streaming), {
    text: "já",
    tokens: ["j", "á"],
    startSeconds: [0.04, 0.12],
    durationSeconds: [],
    logProbabilities: [-0.1, -0.2],
  });
  const whole =
    '{"lang": "", "text": "já", "timestamps": [0.04], "durations": [0.1], "tokens":["já"], "ys_log_probs": [-0.3]}';
  assert.deepEqual(readLibraryResult(whole), {
    text: "já",
    tokens: ["já"],
    startSeconds: [0.04],
    durationSeconds: [0.1],
    logProbabilities: [-0.3],
  });
});

test("readLibraryResult() ignores lists without an entry for each token", () => {
  const { startSeconds, logProbabilities } = readLibraryResult(
    '{"text": "a b", "tokens": ["a", " b"], "timestamps": [0.1], "ys_probs": []}',
  );
  assert.deepEqual([startSeconds, logProbabilities], [[], []]);
});

test("readLibraryResult() reads control characters", () => {
  assert.equal(readLibraryResult('{"text": "a\u0001\nb", "tokens": ["\t"]}').text, "a  b");
});

test("readLibraryResult() rejects text that is not JSON, without quoting it in the error", () => {
  // The output of a broken model.
  assert.throws(() => readLibraryResult('{"text": "leyndó", "ys_probs": [nan]}'), {
    name: "Error",
    message: "sherpa-onnx returned 37 characters that are not JSON",
  });
});
