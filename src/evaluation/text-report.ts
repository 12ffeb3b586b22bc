import type { Evaluation } from "./evaluation.ts";
import {
  comparisonText,
  confusionText,
  durationText,
  intervalText,
  percent,
} from "./format-figures.ts";
import type { Summary, SystemReport } from "./summarize-results.ts";

/** Returns the report for a terminal. */
export function textReport(evaluation: Evaluation): string {
  const { manifest, normalization, system, against } = evaluation;
  const { all } = system;
  const lines = [
    `${manifest}: ${count(all.recordings, "recording")}, ${durationText(all.audioMs)} of audio, ` +
      `${count(all.words.counts.length, "word")}; normalization ${normalization}`,
  ];
  const systems = against ? [system, against.system] : [system];
  for (const each of systems) lines.push("", ...systemLines(each));
  if (against) {
    lines.push(
      "",
      `${against.system.label} against ${system.label}`,
      `  words       ${comparisonText(against.words)}`,
      `  characters  ${comparisonText(against.characters)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function systemLines(system: SystemReport): string[] {
  const { label, all, groups, confusions, scored, failed } = system;
  const width = Math.max(9, ...scored.map(({ result }) => result.name.length));
  const head = ["words", "WER %", "ins", "del", "sub", "CER %"].map((name) => name.padStart(6));
  const rows = scored.map(({ result, score, words: { counts, rate, interval } }) => {
    const { length, errors } = score.characters;
    const figures = [
      String(counts.length),
      percent(rate),
      ...[counts.insertions, counts.deletions, counts.substitutions].map(String),
      percent(length === 0 ? 0 : errors / length),
    ].map((figure) => figure.padStart(6));
    return `  ${result.name.padEnd(width)} ${figures.join("")}  ${intervalText(interval)}`.trimEnd();
  });
  const parts = groups.length > 1 ? groups : [];
  return [
    label,
    `  ${"".padEnd(width)} ${head.join("")}`,
    ...rows,
    ...failed.map(({ name, failure }) => `  ${name.padEnd(width)} not recognized: ${failure}`),
    "",
    ...(all.recordings === 0 ? ["  no recording was recognized"] : summaryLines(all)),
    ...parts.flatMap(({ languageCode, mode, model, summary }) => [
      `  ${languageCode}, ${mode}, ${model}: ${count(summary.recordings, "recording")}`,
      ...summaryLines(summary).map((line) => `  ${line}`),
    ]),
    ...(confusions.length === 0 ? [] : ["  most frequent errors"]),
    ...confusions.map((each) => `  ${String(each.count).padStart(6)} x  ${confusionText(each)}`),
  ];
}

function summaryLines(summary: Summary): string[] {
  const { words, characters, realTimeFactor, finals, untimedFinals } = summary;
  const { counts } = words;
  const kinds = `${counts.insertions} ins, ${counts.deletions} del, ${counts.substitutions} sub`;
  const of = (errors: number, length: number): string => `${errors} of ${length}`;
  const lines = [
    `  word error rate       ${percent(words.rate)} % ${intervalText(words.interval)}  ` +
      `${of(counts.errors, counts.length)} words: ${kinds}`,
    `  character error rate  ${percent(characters.rate)} % ${intervalText(characters.interval)}  ` +
      `${of(characters.counts.errors, characters.counts.length)} characters`,
  ];
  if (realTimeFactor !== undefined) {
    lines.push(`  real-time factor      ${realTimeFactor.toFixed(3)}`);
  }
  if (finals) {
    const { p50, p95, max } = finals;
    const [half, most, longest] = [p50, p95, max].map((ms) => `${ms.toFixed(0)} ms`);
    lines.push(
      `  latency of finals     p50 ${half}, p95 ${most}, max ${longest} (${finals.count} results)`,
    );
  }
  if (untimedFinals > 0) {
    const results = count(untimedFinals, "result");
    lines.push(`  latency not measured  ${results} without word times`);
  }
  return lines;
}

function count(number: number, name: string): string {
  return `${number} ${name}${number === 1 ? "" : "s"}`;
}
