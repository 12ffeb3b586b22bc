// The alerts, dashboards and runbooks of deploy/ and docs/runbooks, checked by promtool and against
// a running service.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { parse } from "yaml";
import { parseMetrics } from "../fixtures/parse-metrics.ts";
import { openTestService } from "../spec/service.ts";

const root = resolve(import.meta.dirname, "../..");
const prometheus = join(root, "deploy/prometheus");
const folder = mkdtempSync(join(tmpdir(), "hlust-dashboards-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

function readAlerts(): readonly Alert[] {
  const file: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } = parse(
    readFileSync(join(prometheus, "alerts.yml"), "utf8"),
  );
  return file.groups.flatMap(({ rules }) => rules);
}

function readDashboards(): readonly Dashboard[] {
  return globSync("deploy/grafana/*.json", { cwd: root }).map((file) =>
    JSON.parse(readFileSync(join(root, file), "utf8")),
  );
}

function promtool(...parameters: readonly string[]): string {
  return execFileSync("promtool", parameters, { cwd: prometheus, encoding: "utf8" });
}

/** Returns the expressions of all panels, with values for the variables of Grafana. */
function expressionsOf({ panels }: Dashboard): readonly string[] {
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll("$instance", ".*")),
  );
}

test("promtool accepts the rules and the configuration, and the tests of the rules pass", () => {
  assert.match(promtool("check", "rules", "alerts.yml"), /SUCCESS: \d+ rules found/);
  assert.match(promtool("check", "config", "prometheus.yml"), /SUCCESS/);
  assert.match(promtool("test", "rules", "alerts.test.yml"), /SUCCESS/);
});

test("each alert is tested, and has a runbook that names it", () => {
  const alerts = readAlerts();
  assert.ok(alerts.length >= 10);
  const tests = readFileSync(join(prometheus, "alerts.test.yml"), "utf8");
  const runbooks = new Set<string>();
  for (const { alert, annotations, labels } of alerts) {
    const fires = new RegExp(String.raw`alertname: ${alert}\n\s+exp_alerts:\n`);
    assert.match(tests, fires, `no test in which ${alert} fires`);
    assert.match(labels.severity, /^(?:critical|warning)$/);
    const file = join(root, annotations.runbook);
    assert.ok(existsSync(file), `${alert}: no ${annotations.runbook}`);
    const page = readFileSync(file, "utf8");
    assert.match(page, new RegExp(String.raw`\b${alert}\b`), annotations.runbook);
    for (const heading of ["What it means", "What to do"]) {
      assert.ok(page.includes(`\n## ${heading}\n`), `${annotations.runbook}: ${heading}`);
    }
    runbooks.add(annotations.runbook);
  }
  assert.deepEqual(
    globSync("docs/runbooks/*.md", { cwd: root }).toSorted(),
    [...runbooks].toSorted(),
  );
});

test("promtool accepts every expression of the dashboards", () => {
  const dashboards = readDashboards();
  assert.deepEqual(dashboards.map(({ uid }) => uid).toSorted(), [
    "hlust-capacity",
    "hlust-operator",
  ]);
  for (const dashboard of dashboards) {
    const rules = expressionsOf(dashboard).map((expr, index) => ({
      record: `panel:${index}`,
      expr,
    }));
    assert.ok(rules.length > 15, dashboard.title);
    const file = join(folder, `${dashboard.uid}.yml`);
    writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    assert.match(promtool("check", "rules", file), /SUCCESS/, dashboard.title);
  }
});

test("panels do not overlap, and have titles", () => {
  for (const { title, panels } of readDashboards()) {
    const taken = new Map<string, string>();
    for (const { title: name, gridPos } of panels) {
      assert.ok(name !== "", title);
      assert.ok(gridPos.x + gridPos.w <= 24, `${title}: ${name} is too wide`);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          const before = taken.get(`${x},${y}`);
          assert.equal(before, undefined, `${title}: ${name} covers ${before}`);
          taken.set(`${x},${y}`, name);
        }
      }
    }
  }
});

test("a running service has every metric and label that an alert or a panel names, and panels show every family", async () => {
  await using service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_METRICS_LISTEN: "127.0.0.1:0",
    // An engine node that is not there has its families as well.
    HLUST_ENGINES: "127.0.0.1:9",
    HLUST_OWN_ENGINES: "true",
    HLUST_ENGINE_CREDENTIAL: "a-credential-that-no-node-has-0001",
  });
  const text = await (await fetch(`${service.app.metricsAddress}/metrics`)).text();
  const families = parseMetrics(text, "prometheus");
  const samples = [...families.values()].flatMap((family) => family.samples);
  const shown = readDashboards().flatMap((dashboard) => expressionsOf(dashboard));
  const expressions = [...readAlerts().map(({ expr }) => expr), ...shown];
  const used = new Set<string>();
  for (const expr of expressions) {
    const selectors = expr.matchAll(
      /\b((?:hlust|process|nodejs|db|http|rpc)_[a-z0-9_]+)(?:\{([^}]*)\})?/g,
    );
    for (const [, name = "", matchers = ""] of selectors) {
      // Labels of a grouping, such as "by (rpc_method)", are not metrics.
      if (/^(?:rpc_method|http_route|http_request_method)$/.test(name)) continue;
      const series = samples.filter((sample) => sample.name === name);
      assert.ok(series.length > 0, `${name} is not in a scrape: ${expr}`);
      used.add(name.replace(/_(?:bucket|sum|count)$/, ""));
      for (const [, label = "", value = ""] of matchers.matchAll(/(\w+)="([^"]*)"/g)) {
        assert.ok(
          series.some(({ labels }) => labels[label] === value),
          `${name}{${label}="${value}"}`,
        );
      }
    }
    const wholeFamilies = expr.matchAll(/by \(([^)]+)\)/g);
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    for (const [, list = ""] of wholeFamilies) {
      for (const label of list.split(/, */)) {
        assert.ok(label === "instance" || labels.has(label), `no label ${label}: ${expr}`);
      }
    }
  }
  const unseen = [...families.keys()].filter((name) => !used.has(name));
  assert.deepEqual(unseen, []);
});
