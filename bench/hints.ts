// `node bench/hints.ts` measures what hints do to recognition, each with hints and without in one
// run: how many names are wrong, the word error rate, names that are recognized although they were
// not said, and the CPU time. English is spoken by flite and recognized by PocketSphinx; Icelandic
// by espeak-ng and the starter model. `node bench/hints.ts quick` uses a third of the sentences.
import { availableParallelism, cpus } from "node:os";
import type { DecoderOptions, Engine, Hint } from "../src/engines/protocol/engine.ts";
import { foldedWords } from "../src/engines/protocol/hint-words.ts";
import { openPocketsphinx } from "../src/engines/pocketsphinx/pocketsphinx-engine.ts";
import { percent } from "../src/evaluation/format-figures.ts";
import { scoreRecording, totalWordErrors } from "../src/evaluation/score-recording.ts";
import { espeak, flite, joined, silence, type Voice } from "../test/fixtures/flite.ts";
import { openStarter } from "../test/fixtures/open-starter.ts";
import { icelandicNamedSentences, namedSentences, type NamedSentence } from "./hint-sentences.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import { sentences } from "./sentences.ts";

/** The maximum share of names that are still wrong, and of CPU time with hints to that without. */
const wrongNamesMax = { english: 0.35, icelandic: 0.35 };
const cpuRatioMax = 1.15;
/** The maximum number of names in sentences that do not contain them. */
const falseNamesMax = 1;
const voices: readonly Voice[] = ["slt", "rms", "awb"];
const isQuick = process.argv[2] === "quick";
const boosts = isQuick ? [10, 15, 20] : [10, 20];

interface Spoken {
  readonly text: string;
  readonly names: readonly string[];
  readonly samples: Int16Array;
}

interface Found {
  readonly wrongNames: number;
  readonly names: number;
  readonly falseNames: number;
  readonly words: { readonly errors: number; readonly length: number };
  readonly cpuSeconds: number;
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

/** Recognizes all sentences without hints and with each boost, and prints the results. */
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
  const counts = `${set.named.length} with names, ${set.plain.length} without`;
  console.log(`\n${name}: ${counts}, ${phrases.length} hints in each call`);
  console.log("hints     wrong names   WER with names   WER without   false names   CPU");
  let plainCpu = NaN;
  let isWithin = true;
  for (const boost of [undefined, ...boosts]) {
    const hints = boost === undefined ? [] : set.hints.map((hint) => ({ ...hint, boost }));
    const options = { mode: "short", alternativesMax: 1, languageCode, hints } as const;
    // The decoder is created here, so that its cost is not in the figures.
    await recognize(engine, options, silence(500));
    const named = await measure(engine, options, set.named, phrases);
    const plain = await measure(engine, options, set.plain, phrases);
    const cpu = named.cpuSeconds + plain.cpuSeconds;
    if (boost === undefined) plainCpu = cpu;
    const wrong = named.wrongNames / named.names;
    const figures = [
      `${named.wrongNames} of ${named.names} (${percent(wrong)} %)`,
      `${percent(named.words.errors / named.words.length)} %`,
      `${percent(plain.words.errors / plain.words.length)} %`,
      String(plain.falseNames),
      (cpu / plainCpu).toFixed(2),
    ];
    console.log(`${boost === undefined ? "none" : `boost ${boost}`}   ${figures.join("   ")}`);
    if (boost !== 10) continue;
    isWithin = wrong <= wrongMax && cpu / plainCpu <= cpuRatioMax;
    isWithin &&= plain.falseNames <= falseNamesMax;
  }
  if (!isWithin) {
    console.log(
      `OVER A LIMIT with boost 10: ${percent(wrongMax)} % wrong names, ${falseNamesMax} false, CPU ${cpuRatioMax}`,
    );
  }
  return isWithin;
}

async function measure(
  engine: Engine,
  options: DecoderOptions & { readonly languageCode: string },
  from: readonly Spoken[],
  phrases: readonly string[],
): Promise<Found> {
  let [wrongNames, names, falseNames] = [0, 0, 0];
  const words = [];
  const before = process.cpuUsage();
  for (const spoken of from) {
    const text = await recognize(engine, options, spoken.samples);
    const folded = ` ${foldedWords(text).join(" ")} `;
    const isFound = (phrase: string) => folded.includes(` ${phrase} `);
    const own = spoken.names.map((name) => foldedWords(name).join(" "));
    names += own.length;
    const wrong = own.filter((name) => !isFound(name)).length;
    wrongNames += wrong;
    falseNames += phrases.filter((phrase) => !own.includes(phrase) && isFound(phrase)).length;
    const recognized = text.split(" ").filter(Boolean);
    const { languageCode } = options;
    const score = scoreRecording(
      {
        text: spoken.text,
        languageCode,
        recognized: recognized.map((word) => ({ text: word, startMs: 0, endMs: 0 })),
        durationMs: spoken.samples.length / 16,
      },
      "plain",
    );
    words.push(score.words);
    if (process.env["BENCH_SHOW"] !== undefined && (wrong > 0 || own.length === 0)) {
      console.log(`  ${spoken.text} -> ${text}`);
    }
  }
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = (user + system) / 1_000_000;
  return { wrongNames, names, falseNames, words: totalWordErrors(words), cpuSeconds };
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
