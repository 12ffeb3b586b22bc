import type { Phrase } from "./language.tsx";
import { bytesText, spanText } from "./numbers.ts";
import type { Problem } from "./problems.ts";

type Say = (parts: readonly string[]) => Problem;

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
    en: "See whether the file plays on your device, and send it again.",
  },
  sendAgain: { is: "Sendu skrána aftur.", en: "Send the file again." },
  recording: {
    is: "Sendu upptökuna sjálfa, hljóð eða myndskeið.",
    en: "Send the recording itself, sound or film.",
  },
  convert: {
    is: "Breyttu skránni í MP3, WAV eða MP4 og sendu hana aftur.",
    en: "Convert the file to MP3, WAV or MP4, and send it again.",
  },
  cut: {
    is: "Skiptu upptökunni og sendu hvern hluta fyrir sig.",
    en: "Cut the recording, and send each part by itself.",
  },
  ours: {
    is: "Það er okkur að kenna. Reyndu aftur; dagbók þjónustunnar segir hvers vegna.",
    en: "That is our fault. Try again; the log of the service says why.",
  },
  wait: { is: "Reyndu aftur eftir stund.", en: "Try again later." },
  operator: {
    is: "Rekstraraðili þjónustunnar getur bætt úr því.",
    en: "The operator of the service can mend that.",
  },
} as const;

/** What the service says when it has met something else than a recording. */
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
 * Why jobs end FAILED, by the words of the service: src/media (by URL), src/audio (what it is),
 * src/jobs and src/auth (all else).
 */
const failures: readonly (readonly [RegExp, Say])[] = [
  [/^the server of the media answered (\d{3})/, ([status = ""]) => statusProblem(Number(status))],
  problem(
    /no such name|name of the host of the media could not be looked up/,
    "Enginn vefþjónn fannst með þessu nafni.",
    "No server of that name was found.",
    nexts.checkUrl,
  ),
  problem(
    /^the host of the media (could not be reached|refused)|did not answer in time|broke the connection off/,
    "Ekki náðist samband við vefþjóninn.",
    "The server could not be reached.",
    nexts.later,
  ),
  problem(
    /^the connection to the server of the media broke/,
    "Sambandið við vefþjóninn rofnaði áður en skráin var öll komin.",
    "The connection to the server broke before the file was here.",
    nexts.later,
  ),
  problem(
    /^the certificate of the host|^no secure connection/,
    "Skilríki vefþjónsins eru ekki í lagi.",
    "The certificate of the server is not in order.",
    nexts.sendFile,
  ),
  problem(
    /does not answer in HTTP|answered too many headers|answered compressed data/,
    "Vefþjónninn svaraði ekki með skrá sem hægt er að sækja.",
    "The server did not answer with a file that can be fetched.",
    nexts.sendFile,
  ),
  problem(
    /^the media came slower|^the media was not here after/,
    "Skráin barst of hægt frá vefþjóninum.",
    "The file came too slowly from the server.",
    nexts.later,
  ),
  problem(/^the media is empty/, "Skráin er tóm.", "The file is empty.", nexts.checkFile),
  problem(
    /^the media came damaged/,
    "Skráin skemmdist á leiðinni frá vefþjóninum.",
    "The file was damaged on its way from the server.",
    nexts.later,
  ),
  problem(
    /^the address of the host is not public/,
    "Slóðin er á lokuðu neti, sem þjónustan sækir ekkert á.",
    "The URL is on a private network, where the service fetches nothing.",
    nexts.sendFile,
  ),
  problem(
    /^the URL (redirects|of the media)/,
    "Slóðin vísar þangað sem þjónustan sækir ekkert.",
    "The URL leads where the service fetches nothing.",
    nexts.checkUrl,
  ),
  [
    /^the media is larger than (\d+) bytes/,
    ([bytes]) => ({
      sentence: {
        is: `Skráin er stærri en ${bytesText("is", Number(bytes))}, sem er það mesta sem tekið er við.`,
        en: `The file is larger than ${bytesText("en", Number(bytes))}, the most that is taken.`,
      },
      next: nexts.convert,
    }),
  ],
  problem(
    /no audio stream/,
    "Ekkert hljóð er í skránni.",
    "There is no sound in the file.",
    nexts.checkFile,
  ),
  [
    /^the recording is longer than ([\d.]+) (minutes|seconds)/,
    ([length, unit]) => {
      const seconds = Number(length) * (unit === "minutes" ? 60 : 1);
      return {
        sentence: {
          is: `Upptakan er lengri en ${spanText("is", seconds)}, sem er það mesta sem tekið er við.`,
          en: `The recording is longer than ${spanText("en", seconds)}, the most that is taken.`,
        },
        next: nexts.cut,
      };
    },
  ],
  problem(
    /^the media is cut short/,
    "Upptakan er ekki öll í skránni: það vantar á hana.",
    "Not all of the recording is in the file: it is cut short.",
    nexts.checkFile,
  ),
  problem(/^the media is damaged/, "Skráin er skemmd.", "The file is damaged.", nexts.checkFile),
  problem(/^the media is encrypted/, "Upptakan er læst (DRM).", "The recording is locked (DRM).", {
    is: "Notaðu ólæst eintak.",
    en: "Use a copy that is not.",
  }),
  [
    /^the media is (.+), not a recording$/,
    ([what = ""]) => ({
      sentence: {
        is: `Þetta er ekki upptaka, heldur ${others[what]?.is ?? "annað"}.`,
        en: `This is not a recording, but ${others[what]?.en ?? what}.`,
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
    /^the uploaded media is gone|^the media is gone/,
    "Skránni hefur verið eytt.",
    "The file has been deleted.",
    nexts.sendAgain,
  ),
  problem(
    /^the (account|key) may keep \d+ bytes/,
    "Ekki er meira pláss fyrir upptökur á reikningnum.",
    "The account has no more room for recordings.",
    {
      is: "Eyddu gömlum uppskriftum og reyndu aftur.",
      en: "Delete old transcripts, and try again.",
    },
  ),
  problem(
    /s of audio that it may have recognized in a day/,
    "Reikningurinn hefur notað allt hljóð sem hann má láta skrifa upp á dag.",
    "The account has used all the audio that it may have recognized in a day.",
    { is: "Reyndu aftur á morgun.", en: "Try again tomorrow." },
  ),
  problem(
    /^there is no room|has no room|^the media store|^no speech engine|^nothing tells/,
    "Þjónustan hafði hvorki pláss né afl til þess.",
    "The service had not the room or the power for it.",
    nexts.wait,
  ),
  problem(
    /^the service failed|^the worker stopped|^the speech engine failed/,
    "Þjónustan réð ekki við þessa upptöku.",
    "The service failed on this recording.",
    nexts.ours,
  ),
];

/**
 * Why a job FAILED, in words of a person, and what to do next; the service's own words, in English,
 * where there are none.
 */
export function jobFailure(message: string): Problem {
  for (const [pattern, say] of failures) {
    const match = pattern.exec(message);
    if (match) return say(match.slice(1));
  }
  return { sentence: { is: message, en: message }, next: nexts.wait };
}

function problem(
  pattern: RegExp,
  is: string,
  en: string,
  next: Phrase<string>,
): readonly [RegExp, Say] {
  return [pattern, () => ({ sentence: { is, en }, next })];
}

function statusProblem(status: number): Problem {
  if (status === 404 || status === 410) {
    return {
      sentence: {
        is: `Ekkert er á slóðinni: vefþjónninn svaraði ${status}.`,
        en: `There is nothing at the URL: its server answered ${status}.`,
      },
      next: nexts.checkUrl,
    };
  }
  if (status === 401 || status === 403) {
    return {
      sentence: {
        is: `Vefþjónninn lætur skrána ekki af hendi: hann svaraði ${status}.`,
        en: `The server does not give the file away: it answered ${status}.`,
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
      en: `The server did not give the file: it answered ${status}.`,
    },
    next: status >= 500 || status === 429 ? nexts.later : nexts.checkUrl,
  };
}
