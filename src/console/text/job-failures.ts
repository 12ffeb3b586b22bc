import type { Phrase } from "./language.tsx";
import { bytesText, spanText } from "./numbers.ts";
import type { Problem } from "./problems.ts";

type Explain = (parts: readonly string[]) => Problem;

const nexts = {
  checkUrl: {
    is: "Athugaðu slóðina, eða sendu skrána sjálfa.",
    en: "Check the URL, or send the file itself.",
  },
  sendFile: { is: "Sendu skrána sjálfa.", en: "Send the file itself." },
  later: {
    is: "Reyndu aftur eftir stund, eða sendu skrána sjálfa.",
    en: "Try again later, or send the file itself.",
  },
  checkFile: {
    is: "Athugaðu hvort hægt sé að spila skrána á tækinu þínu, og sendu hana aftur.",
    en: "Check that the file plays on your device, and send it again.",
  },
  sendAgain: { is: "Sendu skrána aftur.", en: "Send the file again." },
  recording: {
    is: "Sendu upptökuna sjálfa, hljóð eða myndskeið.",
    en: "Send the recording itself, audio or video.",
  },
  convert: {
    is: "Breyttu skránni í MP3, WAV eða MP4 og sendu hana aftur.",
    en: "Convert the file to MP3, WAV or MP4 and send it again.",
  },
  cut: {
    is: "Skiptu upptökunni og sendu hvern hluta fyrir sig.",
    en: "Split the recording and send each part separately.",
  },
  ours: {
    is: "Það er okkur að kenna. Reyndu aftur; dagbók þjónustunnar segir hvers vegna.",
    en: "This is our fault. Try again; the service's log has the reason.",
  },
  wait: { is: "Reyndu aftur eftir stund.", en: "Try again later." },
  operator: {
    is: "Rekstraraðili þjónustunnar getur bætt úr því.",
    en: "The operator of the service can fix this.",
  },
} as const;

/**
 * Returns whether submitting the same recording again can help: not if its content is what cannot
 * be recognized.
 */
export function canHelpAgain({ next }: Problem): boolean {
  return next !== nexts.recording && next !== nexts.convert && next !== nexts.cut;
}

/** The service's terms for media that is not a recording, with the console's words. */
const others: Readonly<Record<string, Phrase<string>>> = {
  "a web page (HTML)": { is: "vefsíða", en: "a web page" },
  "a playlist": { is: "spilunarlisti", en: "a playlist" },
  "an XML document": { is: "XML-skjal", en: "an XML document" },
  "a JSON document": { is: "JSON-skjal", en: "a JSON document" },
  "a PDF document": { is: "PDF-skjal", en: "a PDF document" },
  "a ZIP archive": { is: "ZIP-safn", en: "a ZIP archive" },
  "compressed (gzip)": { is: "þjöppuð skrá", en: "a compressed file" },
  "an image": { is: "mynd", en: "an image" },
};

/**
 * Patterns of the service's error messages, and what the console shows instead. The messages come
 * from src/media (fetching a URL), src/audio (the format), src/jobs and src/auth (everything else).
 */
const failures: readonly (readonly [RegExp, Explain])[] = [
  [/^the server of the media answered (\d{3})/, ([status = ""]) => statusProblem(Number(status))],
  problem(
    /no such name|name of the host of the media could not be looked up/,
    "Enginn vefþjónn fannst með þessu nafni.",
    "No server with that name was found.",
    nexts.checkUrl,
  ),
  problem(
    /^the host of the media (could not be reached|refused)|did not answer in time|broke the connection off|closed the connection$/,
    "Ekki náðist samband við vefþjóninn.",
    "The server could not be reached.",
    nexts.later,
  ),
  problem(
    /^the connection to the server of the media broke/,
    "Sambandið við vefþjóninn rofnaði áður en skráin var öll komin.",
    "The connection to the server was lost before the file was complete.",
    nexts.later,
  ),
  problem(
    /^the certificate of the host|^no secure connection/,
    "Skilríki vefþjónsins eru ekki í lagi.",
    "The server's certificate is not valid.",
    nexts.sendFile,
  ),
  problem(
    /does not answer in HTTP|answered too many headers|(answered|sent) compressed data/,
    "Vefþjónninn svaraði ekki með skrá sem hægt er að sækja.",
    "The server did not return a file that can be downloaded.",
    nexts.sendFile,
  ),
  problem(
    /^the media (came slower|arrived more slowly|was not here after|could not be downloaded)/,
    "Skráin barst of hægt frá vefþjóninum.",
    "The server sent the file too slowly.",
    nexts.later,
  ),
  problem(/^the media is empty/, "Skráin er tóm.", "The file is empty.", nexts.checkFile),
  problem(
    /^the media (came damaged|was damaged in)/,
    "Skráin skemmdist á leiðinni frá vefþjóninum.",
    "The file was damaged on its way from the server.",
    nexts.later,
  ),
  problem(
    /^the address of the host is not public/,
    "Slóðin er á lokuðu neti, sem þjónustan sækir ekkert á.",
    "The URL is on a private network, which the service does not download from.",
    nexts.sendFile,
  ),
  problem(
    /^the URL (redirects|of the media)/,
    "Slóðin vísar þangað sem þjónustan sækir ekkert.",
    "The URL leads to a place that the service does not download from.",
    nexts.checkUrl,
  ),
  [
    /^the media is larger than (\d+) bytes/,
    ([bytes]) => ({
      sentence: {
        is: `Skráin er stærri en ${bytesText("is", Number(bytes))}, sem er það mesta sem tekið er við.`,
        en: `The file is larger than the limit of ${bytesText("en", Number(bytes))}.`,
      },
      next: nexts.convert,
    }),
  ],
  problem(
    /^the content of the job was not complete/,
    "Upptakan barst ekki öll í tæka tíð.",
    "The recording did not arrive completely in time.",
    nexts.sendFile,
  ),
  problem(
    /no audio stream/,
    "Ekkert hljóð er í skránni.",
    "The file contains no audio.",
    nexts.checkFile,
  ),
  [
    /^the recording is longer than ([\d.]+) (minutes|seconds)/,
    ([length, unit]) => {
      const seconds = Number(length) * (unit === "minutes" ? 60 : 1);
      return {
        sentence: {
          is: `Upptakan er lengri en ${spanText("is", seconds)}, sem er það mesta sem tekið er við.`,
          en: `The recording is longer than the limit of ${spanText("en", seconds)}.`,
        },
        next: nexts.cut,
      };
    },
  ],
  problem(
    /^the media is cut short/,
    "Upptakan er ekki öll í skránni: það vantar á hana.",
    "The file is incomplete: the end of the recording is missing.",
    nexts.checkFile,
  ),
  problem(/^the media is damaged/, "Skráin er skemmd.", "The file is damaged.", nexts.checkFile),
  problem(
    /^the media is encrypted/,
    "Upptakan er læst (DRM).",
    "The recording is protected (DRM).",
    {
      is: "Notaðu ólæst eintak.",
      en: "Use an unprotected copy.",
    },
  ),
  [
    /^the media is (.+), not a recording$/,
    ([what = ""]) => ({
      sentence: {
        is: `Þetta er ekki upptaka, heldur ${others[what]?.is ?? "annað"}.`,
        en: `This is not a recording but ${others[what]?.en ?? what}.`,
      },
      next: nexts.recording,
    }),
  ],
  problem(
    /^the media is /,
    "Þjónustan getur ekki lesið skrána sem upptöku.",
    "The service cannot read the file as a recording.",
    nexts.convert,
  ),
  problem(
    /has no installed model/,
    "Ekkert líkan er uppsett fyrir tungumálið.",
    "No model is installed for the language.",
    nexts.operator,
  ),
  problem(
    /^the uploaded media (is gone|was deleted)|^the media is gone/,
    "Skránni hefur verið eytt.",
    "The file has been deleted.",
    nexts.sendAgain,
  ),
  problem(
    /^the (account|key) (can|may) (keep|store) \d+ bytes/,
    "Ekki er meira pláss fyrir upptökur á reikningnum.",
    "The account has no space left for recordings.",
    {
      is: "Eyddu gömlum uppskriftum og reyndu aftur.",
      en: "Delete old transcripts and try again.",
    },
  ),
  problem(
    /s of audio (that it may have recognized )?(in a|per) day/,
    "Reikningurinn hefur notað allt hljóð sem hann má láta skrifa upp á dag.",
    "The account has reached its daily limit of audio.",
    { is: "Reyndu aftur á morgun.", en: "Try again tomorrow." },
  ),
  problem(
    /^there is no room|has no room|^the media store|^no (speech engine|diarization process)|^the diarization process|^nothing \w+ speakers/,
    "Þjónustan hafði hvorki pláss né afl til þess.",
    "The service did not have the space or the capacity for it.",
    nexts.wait,
  ),
  problem(
    /^the service failed|^the worker stopped|^the speech engine failed/,
    "Þjónustan réð ekki við þessa upptöku.",
    "The service could not process this recording.",
    nexts.ours,
  ),
];

/**
 * Returns why a job failed, in the console's words, and what to do next. An unknown message is the
 * detail of a general sentence.
 */
export function jobFailure(message: string): Problem {
  for (const [pattern, explain] of failures) {
    const match = pattern.exec(message);
    if (match) return explain(match.slice(1));
  }
  const sentence = {
    is: "Þjónustan gat ekki lokið verkinu.",
    en: "The service could not complete the job.",
  };
  return { sentence, next: nexts.wait, ...(message !== "" && { detail: message }) };
}

function problem(
  pattern: RegExp,
  is: string,
  en: string,
  next: Phrase<string>,
): readonly [RegExp, Explain] {
  return [pattern, () => ({ sentence: { is, en }, next })];
}

function statusProblem(status: number): Problem {
  if (status === 404 || status === 410) {
    return {
      sentence: {
        is: `Ekkert er á slóðinni: vefþjónninn svaraði ${status}.`,
        en: `There is nothing at this URL: the server answered ${status}.`,
      },
      next: nexts.checkUrl,
    };
  }
  if (status === 401 || status === 403) {
    return {
      sentence: {
        is: `Vefþjónninn lætur skrána ekki af hendi: hann svaraði ${status}.`,
        en: `The server refuses access to the file: it answered ${status}.`,
      },
      next: {
        is: "Notaðu slóð sem virkar án innskráningar, eða sendu skrána sjálfa.",
        en: "Use a URL that works without signing in, or send the file itself.",
      },
    };
  }
  return {
    sentence: {
      is: `Vefþjónninn lét skrána ekki í té: hann svaraði ${status}.`,
      en: `The server did not deliver the file: it answered ${status}.`,
    },
    next: status >= 500 || status === 429 ? nexts.later : nexts.checkUrl,
  };
}
