import { counted, isOne } from "./counted.ts";
import { numberText } from "./numbers.ts";

/** Texts of the overview. */
export const overviewText = {
  newTranscript: { is: "Ný uppskrift", en: "New transcript" },
  usage: { is: (month: string) => `Notkun í ${month}`, en: (month: string) => `Usage in ${month}` },
  audio: { is: "Uppskrifað hljóð", en: "Audio transcribed" },
  audioParts: {
    is: (jobs: string, live: string, short: string) =>
      `${jobs} í verkum, ${live} beint, ${short} í stuttum köllum`,
    en: (jobs: string, live: string, short: string) =>
      `${jobs} in jobs, ${live} live, ${short} in short requests`,
  },
  audioToday: {
    is: (used: string, max: string) => `Í dag ${used} af ${max}`,
    en: (used: string, max: string) => `Today ${used} of ${max}`,
  },
  requests: { is: "API-köll", en: "Requests" },
  requestsMax: {
    is: (max: number) => `Mest ${numberText("is", max)} á mínútu`,
    en: (max: number) => `At most ${numberText("en", max)} per minute`,
  },
  stored: { is: "Geymt hljóð og myndefni", en: "Stored media" },
  storedMax: { is: (max: string) => `Af ${max}`, en: (max: string) => `of ${max}` },
  noLimit: { is: "Engin mörk", en: "No limit" },
  days: { is: "Hljóð á dag", en: "Audio per day" },
  day: {
    is: (date: string, audio: string, requests: number) =>
      `${date}: ${audio}, ${counted("is", requests, "kall", "köll")}`,
    en: (date: string, audio: string, requests: number) =>
      `${date}: ${audio}, ${counted("en", requests, "request", "requests")}`,
  },
  health: { is: "Ástand", en: "Health" },
  allWell: { is: "Allt er í lagi.", en: "All systems are working." },
  notWell: {
    is: "Ekki er allt í lagi. Dagbók þjónustunnar segir hvers vegna.",
    en: "Some parts are not working. The service's log has the reason.",
  },
  well: { is: "í lagi", en: "OK" },
  unwell: { is: "svarar ekki", en: "not responding" },
  database: { is: "Gagnagrunnur", en: "Database" },
  engines: { is: "Talgreining", en: "Recognition" },
  media: { is: "Geymsla", en: "Storage" },
  sandbox: { is: "Einangrun afkóðara", en: "Decoder sandbox" },
  processes: {
    is: (ready: number, all: number) =>
      `${numberText("is", ready)} af ${counted("is", all, "ferli", "ferlum")} ${isOne("is", ready) ? "tilbúið" : "tilbúin"}`,
    en: (ready: number, all: number) =>
      `${numberText("en", ready)} of ${counted("en", all, "process", "processes")} ready`,
  },
  reducedSandbox: { is: "skert", en: "reduced" },
  models: { is: "Líkön", en: "Models" },
  speakersModel: { is: "greinir mælendur í sundur", en: "separates speakers" },
  running: { is: "Verk", en: "Jobs" },
  quietJobs: {
    is: "Ekkert er í vinnslu og ekkert hefur mistekist.",
    en: "No jobs are running, and none have failed.",
  },
  allJobs: { is: "Öll verk", en: "All jobs" },
  waiting: { is: "bíður", en: "waiting" },
  percent: { is: (percent: number) => `${percent} %`, en: (percent: number) => `${percent}%` },
  progress: {
    is: (subject: string) => `Framvinda: ${subject}`,
    en: (subject: string) => `Progress: ${subject}`,
  },
  untitled: { is: "Án titils", en: "Untitled" },
  latest: { is: "Nýjustu uppskriftir", en: "Latest transcripts" },
  noTranscripts: { is: "Engin uppskrift er tilbúin enn.", en: "No transcripts yet." },
  allTranscripts: { is: "Allar uppskriftir", en: "All transcripts" },
} as const;

/** Texts of the first steps, for an account without transcripts. */
export const firstStepsText = {
  hide: { is: "Fela skrefin", en: "Hide these steps" },
  title: { is: "Byrjaðu hér", en: "Start here" },
  tryIt: { is: "Sjáðu tal verða að texta", en: "Turn speech into text" },
  tryItNext: {
    is: "Hér er stutt upptaka sem við bjuggum til. Ýttu á hnappinn og fylgdu henni eftir.",
    en: "Here is a short sample recording. Press the button and follow its progress.",
  },
  trySample: {
    is: (language: string) => `Prófa upptöku: ${language}`,
    en: (language: string) => `Try a sample: ${language}`,
  },
  ownOne: { is: "Sendu upptöku, eða talaðu", en: "Send a recording or speak" },
  ownOneNext: {
    is: "Dragðu hljóð eða myndskeið hvert sem er á síðuna, veldu skrá, eða talaðu í hljóðnemann.",
    en: "Drag audio or video anywhere onto the page, choose a file, or speak into the microphone.",
  },
  newJob: { is: "Velja skrá", en: "Choose a file" },
  speak: { is: "Tala í hljóðnemann", en: "Speak into the microphone" },
  program: { is: "Láttu forrit um það", en: "Use the API" },
  programNext: {
    is: "Búðu til lykil, settu hann í HLUST_KEY í skelinni og límdu þetta þar:",
    en: "Create a key, set HLUST_KEY to it in your shell, and paste this:",
  },
  newKey: { is: "Búa til lykil", en: "Create a key" },
  request: { is: "API-kall", en: "API request" },
  onlyReading: { is: "Hér er ekkert enn", en: "Nothing here yet" },
  onlyReadingNext: {
    is: "Uppskriftir birtast hér þegar einhver á reikningnum sendir upptöku. Þú mátt lesa þær.",
    en: "Transcripts appear here when a member of the account submits a recording. You can read them.",
  },
} as const;

/** The titles of the sample recordings. */
export const sampleText = {
  icelandic: {
    is: "Veðrið í dag, prufuupptaka á íslensku",
    en: "The weather today, a sample in Icelandic",
  },
  english: {
    is: "Veðrið í dag, prufuupptaka á ensku",
    en: "The weather today, a sample in English",
  },
  keyword: { is: "prufa", en: "sample" },
} as const;
