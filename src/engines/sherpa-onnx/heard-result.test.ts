import assert from "node:assert/strict";
import { test } from "node:test";
import { readHeardResult } from "./heard-result.ts";

test("readHeardResult() reads what streaming and other models tell", () => {
  const streaming =
    '{ "text": "já", "tokens": ["j", "á"], "timestamps": [0.04, 0.12], "ys_probs": [-0.1, -0.2], "words": []}';
  assert.deepEqual(readHeardResult(streaming), {
    text: "já",
    tokens: ["j", "á"],
    startSeconds: [0.04, 0.12],
    durationSeconds: [],
    logProbabilities: [-0.1, -0.2],
  });
  const whole =
    '{"lang": "", "text": "já", "timestamps": [0.04], "durations": [0.1], "tokens":["já"], "ys_log_probs": [-0.3]}';
  assert.deepEqual(readHeardResult(whole), {
    text: "já",
    tokens: ["já"],
    startSeconds: [0.04],
    durationSeconds: [0.1],
    logProbabilities: [-0.3],
  });
});

test("readHeardResult() takes lists only that have an entry for each token", () => {
  const { startSeconds, logProbabilities } = readHeardResult(
    '{"text": "a b", "tokens": ["a", " b"], "timestamps": [0.1], "ys_probs": []}',
  );
  assert.deepEqual([startSeconds, logProbabilities], [[], []]);
});

test("readHeardResult() reads control characters", () => {
  assert.equal(readHeardResult('{"text": "a\u0001\nb", "tokens": ["\t"]}').text, "a  b");
});

test("readHeardResult() refuses what is no JSON, and says nothing of what was said", () => {
  // What a model that is broken puts out.
  assert.throws(() => readHeardResult('{"text": "leyndó", "ys_probs": [nan]}'), {
    name: "Error",
    message: "sherpa-onnx told a result of 37 characters that is no JSON",
  });
});
