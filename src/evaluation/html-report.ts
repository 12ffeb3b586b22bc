import type { Evaluation } from "./evaluation.ts";
import {
  comparisonText,
  confusionText,
  durationText,
  intervalText,
  percent,
} from "./format-figures.ts";
import { reportScript, reportStyle } from "./html-parts.ts";
import type { ErrorCounts } from "./score-recording.ts";
import type { Latency, Rated, ScoredResult, SystemReport } from "./summarize-results.ts";

/**
 * Returns the report as a page of HTML. Each difference is a button that plays its part of the
 * recording. `soundOf` returns the relative URL of a recording, by its position in the manifest.
 */
export function htmlReport(
  evaluation: Evaluation,
  soundOf: (index: number) => string | undefined,
): string {
  const { manifest, normalization, system, against } = evaluation;
  const systems = against ? [system, against.system] : [system];
  const title = `Evaluation of ${manifest}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${reportStyle}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>Normalization: ${normalization}. Intervals are those of 95 % confidence.</p>
${summaryTable(systems)}
${against ? comparisonSection(evaluation) : ""}
${systems.map(confusionSection).join("\n")}
<section aria-labelledby="recordings">
<h2 id="recordings">Recordings</h2>
<p>A missing word is <del>struck through</del>, an added word is <ins>underlined</ins>. Each
difference is a button that plays its sound; press it again to stop.</p>
<p><label><input type="checkbox" id="only-errors"> Show only recordings with errors</label></p>
${recordingSections(systems, soundOf)}
</section>
</main>
<script>${reportScript}</script>
</body>
</html>
`;
}

/** Returns a table with a row for each figure and a column for each system. */
function summaryTable(systems: readonly SystemReport[]): string {
  const rows: [name: string, figure: (system: SystemReport) => string][] = [
    ["Recordings", ({ all }) => String(all.recordings)],
    ["Not recognized", ({ failed }) => String(failed.length)],
    ["Words", ({ all }) => String(all.words.counts.length)],
    ["Word error rate, %", ({ all }) => ratedText(all.words)],
    ["Insertions", ({ all }) => String(all.words.counts.insertions)],
    ["Deletions", ({ all }) => String(all.words.counts.deletions)],
    ["Substitutions", ({ all }) => String(all.words.counts.substitutions)],
    ["Character error rate, %", ({ all }) => ratedText(all.characters)],
    ["Real-time factor", ({ all }) => all.realTimeFactor?.toFixed(3) ?? "not measured"],
    ["Latency of finals, p50 / p95 ms", ({ all: { finals } }) => latencyText(finals)],
    ["Finals without word times, not measured", ({ all }) => String(all.untimedFinals)],
  ];
  const head = ["Figure", ...systems.map(({ label }) => label)];
  const cells = rows.map(([name, figure]) => [name, ...systems.map(figure)]);
  return `<h2>All recordings</h2>\n${table(head, cells)}`;
}

function ratedText({ rate, interval }: Rated<ErrorCounts>): string {
  return `${percent(rate)} ${intervalText(interval)}`;
}

function latencyText(finals: Latency | undefined): string {
  return finals ? `${finals.p50.toFixed(0)} / ${finals.p95.toFixed(0)}` : "not measured";
}

function comparisonSection({ system, against }: Evaluation): string {
  if (!against) return "";
  return `<h2>Comparison</h2>
<p>${escaped(against.system.label)} against ${escaped(system.label)}:</p>
<ul>
<li>words: ${escaped(comparisonText(against.words))}</li>
<li>characters: ${escaped(comparisonText(against.characters))}</li>
</ul>`;
}

function confusionSection({ label, confusions }: SystemReport): string {
  if (confusions.length === 0) return "";
  const rows = confusions.map((each) => [confusionText(each), String(each.count)]);
  return `<details><summary>Most frequent errors of ${escaped(label)}</summary>
${table(["Error", "Count"], rows)}
</details>`;
}

/** Returns a section for each recording that a system recognized or failed to recognize. */
function recordingSections(
  systems: readonly SystemReport[],
  soundOf: (index: number) => string | undefined,
): string {
  const [first] = systems;
  const count = (first?.scored.length ?? 0) + (first?.failed.length ?? 0);
  const scored = systems.map(
    (system) => new Map(system.scored.map((each) => [each.index, each] as const)),
  );
  return Array.from({ length: count }, (_, index) => {
    const each = systems.flatMap(({ label }, at) => {
      const found = scored[at]?.get(index);
      return found ? [{ label, found }] : [];
    });
    return recordingSection(each, index, soundOf(index));
  }).join("\n");
}

function recordingSection(
  each: readonly { readonly label: string; readonly found: ScoredResult }[],
  index: number,
  sound: string | undefined,
): string {
  const [one] = each;
  if (!one) return "";
  const { result } = one.found;
  const errors = each.reduce((sum, { found }) => sum + found.words.counts.errors, 0);
  const lang = escaped(result.languageCode);
  const name = escaped(result.name);
  const audio =
    sound === undefined
      ? ""
      : `<audio id="sound-${index}" controls preload="none" src="${escaped(sound)}" aria-label="${name}"></audio>`;
  const lines = each.map(
    ({ label, found }) =>
      `<h4>${escaped(label)}: ${escaped(figuresOf(found))}</h4>
<p lang="${lang}" class="aligned">${alignedText(found, index, sound !== undefined)}</p>`,
  );
  return `<section class="recording" data-errors="${errors}" aria-labelledby="name-${index}">
<h3 id="name-${index}">${name}</h3>
<p>${lang}, ${escaped(result.mode)}, ${durationText(result.durationMs)}</p>
${audio}
<h4>Reference</h4>
<p lang="${lang}">${escaped(result.text.trim())}</p>
${lines.join("\n")}
</section>`;
}

function figuresOf({ words, score }: ScoredResult): string {
  const { errors, length } = words.counts;
  const { characters } = score;
  const share = characters.length === 0 ? 0 : characters.errors / characters.length;
  return `${errors} of ${length} words wrong, ${percent(words.rate)} %; characters ${percent(share)} %`;
}

/** Returns the words that are the same as text, and the differences as buttons. */
function alignedText({ score }: ScoredResult, index: number, hasSound: boolean): string {
  const { said, edits, differences } = score;
  const starts = new Map(differences.map((each) => [each.from, each]));
  const parts: string[] = [];
  for (let at = 0; at < edits.length; at += 1) {
    const difference = starts.get(at);
    const edit = edits[at];
    if (!difference) {
      if (edit && "said" in edit) parts.push(escaped(said[edit.said]?.text ?? ""));
      continue;
    }
    at = difference.to - 1;
    const missing = difference.said.map(escaped).join(" ");
    const added = difference.recognized.map(escaped).join(" ");
    const seconds = [difference.startMs, difference.endMs].map((ms) => (ms / 1000).toFixed(2));
    const text = [
      missing === "" ? "" : `<span class="hidden" lang="en">said</span> <del>${missing}</del>`,
      added === "" ? "" : `<span class="hidden" lang="en">recognized</span> <ins>${added}</ins>`,
    ].filter((each) => each !== "");
    const data = `data-sound="sound-${index}" data-start="${seconds[0]}" data-end="${seconds[1]}"`;
    const title = `${seconds[0]} s to ${seconds[1]} s`;
    const inside = text.join(" ");
    parts.push(
      hasSound
        ? `<button type="button" ${data} title="${title}">${inside}</button>`
        : `<span class="difference">${inside}</span>`,
    );
  }
  return parts.join(" ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = head.map((name) => `<th scope="col">${escaped(name)}</th>`).join("");
  const body = rows.map(([first = "", ...cells]) => {
    const rest = cells.map((cell) => `<td>${escaped(cell)}</td>`).join("");
    return `<tr><th scope="row">${escaped(first)}</th>${rest}</tr>`;
  });
  return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${heads}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
