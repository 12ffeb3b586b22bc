import assert from "node:assert/strict";
import { test } from "node:test";
import { Vectors } from "../../test/gen/transcoding_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { bindingsOf, type ConfiguredRule, HttpRuleError, resolveRules } from "./http-rules.ts";

const echo = "vectors.v1.Vectors.Echo";

test("bindingsOf() reads the annotations of services", () => {
  const bindings = bindingsOf([Speech, Transcripts]);
  const lines = bindings.map(
    ({ httpMethod, template, method }) => `${httpMethod} ${template} ${method.name}`,
  );
  assert.deepEqual(lines.slice(0, 4), [
    "POST /v2beta1/speech:recognize Recognize",
    "WEBSOCKET /v2beta1/speech:streamingrecognize StreamingRecognize",
    "GET /v2beta1/models ListModels",
    "POST /v1alpha1/transcriptjob:submit SubmitTranscriptJob",
  ]);
  const bound = new Set(bindings.map(({ method }) => method));
  assert.equal(bound.size, Speech.methods.length + Transcripts.methods.length);
  const update = bindings.find(({ method }) => method.name === "UpdateTranscript");
  assert.ok(update && typeof update.body !== "string");
  assert.equal(update.body.name, "transcript");
  assert.equal(update.updateMask?.name, "update_mask");
  assert.deepEqual(
    update.variables.map((fields) => fields.map(({ name }) => name)),
    [["transcript", "name"]],
  );
});

test("bindingsOf() replaces the annotation of a method with the method's last configured rule", () => {
  const rules: ConfiguredRule[] = [
    { selector: "hlust.speech.v2beta1.Speech.Recognize", post: "/first", body: "*" },
    {
      selector: "hlust.speech.v2beta1.*",
      get: "/{config.language_code}",
      additional_bindings: [{ put: "/b" }],
    },
    {
      selector: "hlust.speech.v2beta1.Speech.StreamingRecognize",
      custom: { kind: "head", path: "/c" },
    },
    { selector: "hlust.speech.v2beta1.Speech.ListModels", get: "/d" },
    { selector: "another.Service.Method", get: "not a path" },
  ];
  const lines = bindingsOf([Speech], rules).map(
    (one) => `${one.method.name} ${one.httpMethod} ${one.template}`,
  );
  assert.deepEqual(lines, [
    "Recognize GET /{config.language_code}",
    "Recognize PUT /b",
    "StreamingRecognize HEAD /c",
    "ListModels GET /d",
  ]);
});

test("bindingsOf() reports every problem of every rule, with its place", () => {
  const rows: [rule: ConfiguredRule, problem: RegExp][] = [
    [{ get: "/x/{s" }, /path template .*, column 6: expected "\.", "=" or "}", found the end/],
    [{ get: "/{rs}" }, /variable "rs" of .*: it is repeated/],
    [{ get: "/{labels}" }, /variable "labels" of .*: it is a map/],
    [{ get: "/{items.id}" }, /variable "items\.id" of .*: "items" is repeated/],
    [{ get: "/{sub}" }, /variable "sub" of .*: it is a message/],
    [{ get: "/{s.x}" }, /variable "s\.x" of .*: "s" has no fields/],
    [{ get: "/{ts.seconds}" }, /variable "ts\.seconds" of .*: "ts" has no fields/],
    [{ get: "/{displayName}" }, /variable "displayName" of .*: M has no field "displayName"/],
    [{ post: "/x", body: "nope" }, /"nope" is not a top-level field of vectors\.v1\.M/],
    [{ post: "/x", body: "sub.s" }, /"sub\.s" is not a top-level field/],
    [{ get: "/x", responseBody: "displayName" }, /"displayName" is not a top-level field/],
    [{}, /no pattern/],
    [{ get: "/x", put: "/y" }, /oneof/],
    [{ get: "/x", nope: 1 }, /"nope" is unknown/],
    [{ custom: { path: "/x" } }, /no kind/],
    [{ custom: { kind: "A B", path: "/x" } }, /"A B" cannot be the name of an HTTP method/],
    [{ custom: { kind: "第", path: "/x" } }, /"第" cannot be the name/],
    [{ custom: { kind: "A\r\nb: c", path: "/x" } }, /"A\\r\\nB: C" cannot be the name/],
    [
      { get: "/x", additional_bindings: [{ get: "/y", additional_bindings: [{ get: "/z" }] }] },
      /additional_bindings\[0\]: additional_bindings cannot have additional_bindings/,
    ],
    [{ get: "/x", additional_bindings: [{ get: "y" }] }, /additional_bindings\[0\]: .*column 1/],
  ];
  for (const [rule, problem] of rows) {
    assert.throws(
      () => bindingsOf([Vectors], [{ selector: echo, ...rule }]),
      (error) => {
        assert.ok(error instanceof HttpRuleError, String(error));
        assert.equal(error.problems.length, 1);
        assert.match(error.message, /^rule 1/);
        assert.match(error.message, problem);
        return true;
      },
    );
  }
  const bad = [{ get: "/x" }, { selector: echo, get: "/{x" }, { selector: "*", get: "x" }];
  assert.throws(
    () => bindingsOf([Vectors], bad),
    // The third rule replaces the second, but the path of the second is still checked.
    /^HttpRuleError: rule 1: it has no selector\nrule 2 \(.*\) on .*: path template .*\nrule 3 \(\*\) on vectors\.v1\.Vectors\.Echo: .*\nrule 3/,
  );
});

test("resolveRules() reports the place of each problem in a rule", () => {
  const rules: ConfiguredRule[] = [
    { selector: "another.Service.Method", get: "not a path" },
    {
      selector: echo,
      get: "/x/{s}/{nope}",
      body: "nope",
      responseBody: "none",
      additional_bindings: [
        { get: "/y" },
        { custom: { kind: "HEAD", path: "/a b" } },
        { custom: { path: "/" } },
      ],
    },
  ];
  const { bindings, problems, notices } = resolveRules([Vectors], rules);
  const spots = problems.map(({ spot }) => [spot.rule, spot.path.join("."), spot.offset]);
  assert.deepEqual(spots, [
    [1, "body", undefined],
    [1, "response_body", undefined],
    [1, "get", 8],
    [1, "additional_bindings.1.custom.path", 2],
    [1, "additional_bindings.2.custom", undefined],
    [1, "additional_bindings.2.custom.path", 1],
  ]);
  // Valid rules are returned even if other rules have problems.
  assert.deepEqual(
    bindings.map(({ template, spot }) => [template, spot.path.join(".")]),
    [["/y", "additional_bindings.0.get"]],
  );
  assert.deepEqual(notices, [
    {
      kind: "unused_selector",
      selector: "another.Service.Method",
      spot: { rule: 0, path: ["selector"] },
    },
  ]);
});

test("resolveRules() reports bindings that are never reached because a later binding has the same path", () => {
  const rules: ConfiguredRule[] = [
    { selector: echo, get: "/x/{s}", additional_bindings: [{ get: "/x/{name}" }, { put: "/x/*" }] },
    {
      selector: "vectors.v1.Vectors.Other",
      get: "/x/*",
      additional_bindings: [{ get: "/x/*:v" }, { get: "/x/**" }, { get: "/x/%2A" }],
    },
  ];
  const { notices } = resolveRules([Vectors], rules);
  const lines = notices.map((notice) =>
    notice.kind === "shadowed_binding"
      ? `${notice.binding.template} ${notice.binding.spot.rule} by ${notice.by.template} ${notice.by.spot.rule}`
      : notice.selector,
  );
  assert.deepEqual(lines, ["/x/{s} 0 by /x/* 1", "/x/{name} 0 by /x/* 1"]);
  assert.deepEqual(resolveRules([Speech, Transcripts], []).notices, []);
});
