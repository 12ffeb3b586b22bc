// `node bench/hints.ts` measures what hints do to recognition, each with hints and without in one
// run: how many names are wrong, the word error rate, names that are recognized although they were
// not said, and the CPU time. English is spoken by flite and recognized by PocketSphinx; Icelandic
// by espeak-ng and the starter model. `node bench/hints.ts quick` uses a third of the sentences.
import { availableParallelism, cpus } from "node:os";
import type { DecoderOptions, Engine, Hint } from "../src/engines/protocol/engine.ts";
import { foldedWords } from "../src/engines/protocol/hint-words.ts";
import { openPocketsphinx } from "../src/engines/pocketsphinx/pocketsphinx-engine.ts";
import { percent } from "../src/evaluation/format-figures.ts";
import {
  scoreRecording,
  totalWordErrors,
  type RecordingScore,
} from "../src/evaluation/score-recording.ts";
import { espeak, flite, joined, silence, type Voice } from "../test/fixtures/flite.ts";
import { openStarter } from "../test/fixtures/open-starter.ts";
import { icelandicNamedSentences, namedSentences, type NamedSentence } from "./hint-sentences.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import { sentences } from "./sentences.ts";

/** The maximum share of names that are still wrong, and of CPU time with hints to that without. */
const wrongNamesMax = { english: 0.4, icelandic: 0.1 };
const cpuRatioMax = 1.25;
/** The maximum number of names in sentences that do not contain them. */
const falseNamesMax = 1;
const voices: readonly Voice[] = ["slt", "rms", "awb"];
const isQuick = process.argv[2] === "quick";
const boosts = [10, 20];

interface Spoken {
  readonly text: string;
  readonly names: readonly string[];
  readonly samples: Int16Array;
}

console.log(`machine  ${cpus()[0]?.model}, ${availableParallelism()} cores`);
const everyThird = <T>(all: readonly T[]): readonly T[] =>
  isQuick ? all.filter((_, at) => at % 3 === 0) : all;
const english = await openPocketsphinx();
const isGood = [
  await compare("English, PocketSphinx", english, "en-US", wrongNamesMax.english, {
    named: everyThird(
      namedSentences.flatMap((each) => voices.map((voice) => spokenBy(each, voice))),
    ).filter((_, at) => !isQuick || at % 2 === 0),
    plain: everyThird(sentences.slice(0, 30)).map((text, at) => ({
      text,
      names: [],
      samples: padded(flite(text, { voice: voices[at % voices.length] ?? "slt" })),
    })),
    hints: hintsOf(namedSentences),
  }),
];
english.close();
const icelandic = await openStarter("whole");
isGood.push(
  await compare("Icelandic, is-IS-starter", icelandic, "is-IS", wrongNamesMax.icelandic, {
    named: everyThird(icelandicNamedSentences).map(({ text, names }) => ({
      text,
      names,
      samples: padded(espeak(text)),
    })),
    plain: everyThird(icelandicSentences.slice(0, 30)).map((text) => ({
      text,
      names: [],
      samples: padded(espeak(text)),
    })),
    hints: hintsOf(icelandicNamedSentences),
  }),
);
icelandic.close();
if (isGood.includes(false)) process.exitCode = 1;

function spokenBy({ text, names, spoken }: NamedSentence, voice: Voice): Spoken {
  const said = spoken === undefined ? text : text.replace(names[0] ?? "", spoken);
  return { text, names, samples: padded(flite(said, { voice })) };
}

function padded(samples: Int16Array): Int16Array {
  return joined(silence(200), samples, silence(200));
}

function hintsOf(from: readonly NamedSentence[]): readonly Omit<Hint, "boost">[] {
  return from.flatMap(({ names, spoken }) =>
    names.map((phrase) => ({ phrase, ...(spoken !== undefined && { soundsLike: [spoken] }) })),
  );
}

/** What was counted with one setting. */
interface Count {
  wrongNames: number;
  falseNames: number;
  cpuMs: number;
  /** The errors in sentences with names, and in those without. */
  readonly words: { readonly named: WordCounts[]; readonly plain: WordCounts[] };
}

type WordCounts = RecordingScore["words"];

/**
 * Recognizes each sentence without hints and with each boost, one after the other, so that the CPU
 * times are comparable on a busy machine. Prints the results.
 */
async function compare(
  name: string,
  engine: Engine,
  languageCode: string,
  wrongMax: number,
  set: {
    readonly named: readonly Spoken[];
    readonly plain: readonly Spoken[];
    readonly hints: readonly Omit<Hint, "boost">[];
  },
): Promise<boolean> {
  const phrases = set.hints.map(({ phrase }) => foldedWords(phrase).join(" "));
  const counts = new Map(
    [undefined, ...boosts].map((boost): [number | undefined, Count] => [
      boost,
      { wrongNames: 0, falseNames: 0, cpuMs: 0, words: { named: [], plain: [] } },
    ]),
  );
  const optionsOf = (boost: number | undefined) => {
    const hints = boost === undefined ? [] : set.hints.map((hint) => ({ ...hint, boost }));
    return { mode: "short", alternativesMax: 1, languageCode, hints } as const;
  };
  // The searches are created here, so that their cost is not in the figures.
  for (const boost of counts.keys()) await recognize(engine, optionsOf(boost), silence(500));
  for (const spoken of [...set.named, ...set.plain]) {
    for (const [boost, count] of counts) {
      const before = process.cpuUsage();
      const text = await recognize(engine, optionsOf(boost), spoken.samples);
      const { user, system } = process.cpuUsage(before);
      count.cpuMs += (user + system) / 1000;
      addTo(count, spoken, { text, phrases, languageCode });
      if (process.env["BENCH_SHOW"] === undefined) continue;
      console.log(`  ${boost ?? "none"}: ${spoken.text} -> ${text}`);
    }
  }
  const hintCount = `${phrases.length} hints in each call`;
  const named = set.named.flatMap(({ names }) => names).length;
  console.log(
    `\n${name}: ${set.named.length} with names, ${set.plain.length} without, ${hintCount}`,
  );
  for (const [boost, count] of counts) {
    const figures = [
      `${count.wrongNames} of ${named} names wrong (${percent(count.wrongNames / named)} %)`,
      `WER ${rateOf(count.words.named)} % with names, ${rateOf(count.words.plain)} % without`,
      `${count.falseNames} false names`,
      `CPU ${(count.cpuMs / (counts.get(undefined)?.cpuMs ?? NaN)).toFixed(2)}`,
    ];
    console.log(`${boost === undefined ? "no hints" : `boost ${boost}`}: ${figures.join("; ")}`);
  }
  const [plain, hinted] = [counts.get(undefined), counts.get(10)];
  if (!plain || !hinted) throw new Error("boost 10 was not measured");
  const isWithin =
    hinted.wrongNames / named <= wrongMax &&
    hinted.falseNames <= falseNamesMax &&
    hinted.cpuMs / plain.cpuMs <= cpuRatioMax;
  const limits = `${percent(wrongMax)} % wrong names, ${falseNamesMax} false, CPU ${cpuRatioMax}`;
  console.log(`limits with boost 10: ${limits}${isWithin ? "" : "  OVER A LIMIT"}`);
  return isWithin;
}

/** Adds the errors of one recognized sentence. */
function addTo(
  count: Count,
  { text: reference, names, samples }: Spoken,
  found: {
    readonly text: string;
    readonly phrases: readonly string[];
    readonly languageCode: string;
  },
): void {
  const folded = ` ${foldedWords(found.text).join(" ")} `;
  const isFound = (phrase: string) => folded.includes(` ${phrase} `);
  const own = names.map((name) => foldedWords(name).join(" "));
  count.wrongNames += own.filter((name) => !isFound(name)).length;
  count.falseNames += found.phrases.filter((each) => !own.includes(each) && isFound(each)).length;
  const recognized = found.text
    .split(" ")
    .filter(Boolean)
    .map((word) => ({ text: word, startMs: 0, endMs: 0 }));
  const { languageCode } = found;
  const durationMs = samples.length / 16;
  const score = scoreRecording({ text: reference, languageCode, recognized, durationMs }, "plain");
  count.words[own.length > 0 ? "named" : "plain"].push(score.words);
}

function rateOf(words: readonly WordCounts[]): string {
  const { errors, length } = totalWordErrors(words);
  return percent(errors / length);
}

async function recognize(
  engine: Engine,
  options: DecoderOptions,
  samples: Int16Array,
): Promise<string> {
  const decoder = engine.createDecoder(options);
  try {
    decoder.begin();
    decoder.accept(samples);
    for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
    const ending = decoder.end();
    let slice = ending.next();
    for (; !slice.done; slice = ending.next()) {
      await slice.value;
      await new Promise(setImmediate);
    }
    return slice.value[0]?.text ?? "";
  } finally {
    decoder.close();
  }
}
