import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMetrics, sumOf } from "../../test/fixtures/parse-metrics.ts";
import { CallMetrics, refusalReasons } from "./call-metrics.ts";
import { MetricRegistry } from "./metric-registry.ts";
import { callProtocols } from "./recorders.ts";

const methods = Array.from({ length: 80 }, (_, index) => ({
  name: `a.Service/Method${index}`,
  countedAs: `a.Service/Method${index}`,
  isStream: false,
}));
const alias = { name: "lr.Service/Method1", countedAs: "a.Service/Method1", isStream: false };

function openCalls() {
  const registry = new MetricRegistry();
  const calls = new CallMetrics(registry, [...methods, alias]);
  return { calls, read: async () => parseMetrics(await registry.text("prometheus"), "prometheus") };
}

const refusals = Object.entries(refusalReasons).flatMap(([kind, reasons]) =>
  reasons.map((reason) => ({ kind, reason })),
);
for (const { kind, reason } of refusals) {
  test(`a call that is refused with ${reason} counts as a refusal of ${kind}`, async () => {
    const { calls, read } = openCalls();
    assert.equal(sumOf(await read(), "hlust_refusals_total", { kind, reason }), 0);
    const call = calls.begin("rest");
    call.failed({ code: "resource_exhausted", reason });
    call.failed({ code: "internal", reason: "LATER" });
    call.end();
    call.end();
    const metrics = await read();
    assert.equal(sumOf(metrics, "hlust_refusals_total", { kind, reason }), 1);
    const other = { rpc_method: "_OTHER", protocol: "rest" };
    assert.equal(sumOf(metrics, "hlust_calls_total", { ...other, code: "RESOURCE_EXHAUSTED" }), 1);
    assert.equal(sumOf(metrics, "hlust_calls_total", { ...other, code: "INTERNAL" }), 0);
    assert.equal(sumOf(metrics, "hlust_calls_active", {}), 0);
  });
}

test("a method of an alias counts as the method of the contract", async () => {
  const { calls, read } = openCalls();
  for (const { name } of [alias, { name: "a.Service/Method1" }, { name: "b.Service/Method1" }]) {
    const call = calls.begin("grpc");
    call.called(name, true);
    call.end();
  }
  const metrics = await read();
  const rpc_method = "a.Service/Method1";
  assert.equal(sumOf(metrics, "hlust_calls_total", { rpc_method, protocol: "grpc" }), 2);
  assert.equal(sumOf(metrics, "rpc_server_call_duration_seconds_count", { rpc_method }), 2);
  const unknown = { rpc_method: "_OTHER", protocol: "grpc", code: "OK" };
  assert.equal(sumOf(metrics, "hlust_calls_total", unknown), 1);
});

test("combinations of method, protocol and code are bounded, and no call is lost", async () => {
  const { calls, read } = openCalls();
  const codes = ["not_found", "invalid_argument", "unauthenticated", "aborted", "data_loss", "x"];
  let count = 0;
  for (const { name } of methods) {
    for (const protocol of callProtocols) {
      for (const code of codes) {
        const call = calls.begin(protocol);
        call.called(name, true);
        call.failed({ code, reason: "" });
        call.end();
        count += 1;
      }
    }
  }
  const metrics = await read();
  assert.equal(sumOf(metrics, "hlust_calls_total"), count);
  const { samples = [] } = metrics.get("hlust_calls_total") ?? {};
  assert.ok(samples.length < 900, `${samples.length} series`);
  const known = new Set(["_OTHER", ...methods.map(({ name }) => name)]);
  assert.ok(samples.every(({ labels }) => known.has(labels["rpc_method"] ?? "")));
  assert.ok(samples.every(({ labels }) => labels["code"] !== "X"));
});
