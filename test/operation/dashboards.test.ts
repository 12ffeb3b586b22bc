// The alerts, dashboards and runbooks of deploy/ and docs/runbooks, checked by promtool and against
// a running service.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { parse } from "yaml";
import { errorCodes } from "../../src/std/error-codes.ts";
import { startService } from "../fault/process.ts";
import { parseMetrics, type Sample } from "../fixtures/parse-metrics.ts";
import { until } from "../fixtures/until.ts";

const root = resolve(import.meta.dirname, "../..");
const prometheus = join(root, "deploy/prometheus");
const folder = mkdtempSync(join(tmpdir(), "hlust-dashboards-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const familiesMax = 60;

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
  const names = new Set(alerts.map(({ alert }) => alert));
  const needed = [
    "HlustQueueTooOld",
    "HlustEnginesRestarting",
    "HlustFinalsLate",
    "HlustDiskLow",
    "HlustDatabaseAway",
    "HlustCertificateExpires",
    "HlustWebhooksFailing",
  ];
  assert.deepEqual(new Set(needed).difference(names), new Set());
  const tests = readFileSync(join(prometheus, "alerts.test.yml"), "utf8");
  const runbooks = new Set<string>();
  for (const { alert, annotations, labels } of alerts) {
    const fires = new RegExp(String.raw`alertname: ${alert}\n\s+exp_alerts:\n`);
    assert.match(tests, fires, `no test in which ${alert} fires`);
    const isSilent = tests.includes(`alertname: ${alert}, exp_alerts: [] }`);
    assert.ok(isSilent, `no test in which ${alert} does not fire`);
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

/** The names of metrics. Labels of a grouping, such as "by (rpc_method)", are not metrics. */
const metricName =
  /\b(?!(?:rpc_method|http_route|http_request_method)\b)(?:hlust|process|nodejs|db|http|rpc)_[a-z0-9_]+/g;
/** Metrics with the matchers of their labels. */
const selector = new RegExp(String.raw`(${metricName.source})(?:\{([^}]*)\})?`, "g");

/** The codes of calls, which have no series before the first call ends with them. */
const codes: ReadonlySet<string> = new Set(errorCodes.map((code) => code.toUpperCase()));

/** Fails unless the service has the labels of a selector, with each value that it lists. */
function checkMatchers(series: readonly Sample[], name: string, matchers: string): void {
  for (const [, label = "", isPattern, value = ""] of matchers.matchAll(/(\w+)=(~?)"([^"]*)"/g)) {
    if (label === "instance") continue;
    for (const one of isPattern ? value.split("|") : [value]) {
      const isThere = series.some(({ labels }) => labels[label] === one);
      assert.ok(isThere || (label === "code" && codes.has(one)), `${name}{${label}="${one}"}`);
    }
  }
}

test("a running service has every metric and label that an alert or a panel names, and panels show every family", async () => {
  // A node with all that a node can have: front processes, and an engine node that is not there.
  await using service = await startService(join(folder, "data"), {
    HLUST_ENGINE: "scripted",
    HLUST_METRICS_LISTEN: "127.0.0.1:0",
    HLUST_FRONT_PROCESSES: "2",
    HLUST_ENGINES: "127.0.0.1:9",
    HLUST_OWN_ENGINES: "true",
    HLUST_ENGINE_CREDENTIAL: "a-credential-that-no-node-has-0001",
  });
  const found = () => /^hlust: metrics at (\S+)$/m.exec(service.output().out)?.[1];
  await until(async () => Promise.resolve(found() !== undefined));
  const address = found() ?? "";
  const scrape = await (await fetch(address)).text();
  execFileSync("promtool", ["check", "metrics"], { input: scrape, encoding: "utf8" });
  const families = parseMetrics(scrape, "prometheus");
  assert.ok(families.size <= familiesMax, `${families.size} families`);
  const samples = [...families.values()].flatMap((family) => family.samples);
  const shown = readDashboards().flatMap((dashboard) => expressionsOf(dashboard));
  const expressions = [...readAlerts().map(({ expr }) => expr), ...shown];
  const used = new Set<string>();
  for (const expr of expressions) {
    for (const [, name = "", matchers = ""] of expr.matchAll(selector)) {
      const series = samples.filter((sample) => sample.name === name);
      assert.ok(series.length > 0, `${name} is not in a scrape: ${expr}`);
      used.add(name.replace(/_(?:bucket|sum|count)$/, ""));
      checkMatchers(series, name, matchers);
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
  // Pages and the chart name metrics as well.
  const pages = globSync(
    ["docs/runbooks/*.md", "docs/operations/*.md", "docs/cluster.md", "deploy/helm/**/*.yaml"],
    { cwd: root },
  );
  assert.ok(pages.length > 10);
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, name = "", matchers = ""] of text.matchAll(selector)) {
      // "hlust_<id>" is the form of a key, and a name that ends in _ stands for several.
      if (!name.startsWith("hlust_") && !families.has(name)) continue;
      const series = samples.filter(
        (sample) => sample.name === name || (name.endsWith("_") && sample.name.startsWith(name)),
      );
      assert.ok(series.length > 0, `${page}: ${name}`);
      checkMatchers(series, `${page}: ${name}`, matchers);
    }
  }
});
