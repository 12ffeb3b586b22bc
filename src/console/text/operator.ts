import { numberText } from "./numbers.ts";
import type { Problems } from "./problems.ts";

/** Texts of the page for operators. */
export const operatorText = {
  sub: {
    is: "Allir hnútar, raðir, líkön og reikningar þjónustunnar. Síðan uppfærist á nokkurra sekúndna fresti.",
    en: "All nodes, queues, models and accounts of the service. The page is updated every few seconds.",
  },
  notAllowed: { is: "Þessi síða er fyrir rekstraraðila", en: "This page is for operators" },
  notAllowedNext: {
    is: "Sá sem rekur þjónustuna getur veitt þér aðgang með skipuninni hlust accounts set-operator.",
    en: "The person who runs the service can give you access with hlust accounts set-operator.",
  },

  nodes: { is: "Hnútar", en: "Nodes" },
  node: { is: "Hnútur", en: "Node" },
  state: { is: "Staða", en: "State" },
  stateOf: {
    NODE_STATE_UNSPECIFIED: { is: "Óþekkt", en: "Unknown" },
    READY: { is: "Í lagi", en: "Ready" },
    STARTING: { is: "Að ræsast", en: "Starting" },
    NOT_READY: { is: "Ekki í lagi", en: "Not ready" },
    DRAINING: { is: "Að hætta", en: "Shutting down" },
  },
  role: { is: "Hlutverk", en: "Role" },
  version: { is: "Útgáfa", en: "Version" },
  started: { is: "Ræstur", en: "Started" },
  streams: { is: "Opin streymi", en: "Open streams" },
  jobs: { is: "Verk í vinnslu", en: "Running jobs" },
  load: { is: "Álag", en: "Load" },
  percent: {
    is: (share: number) => `${numberText("is", 100 * share)} %`,
    en: (share: number) => `${numberText("en", 100 * share)}%`,
  },

  engines: { is: "Líkön í vinnslu", en: "Models in use" },
  model: { is: "Líkan", en: "Model" },
  languages: { is: "Tungumál", en: "Languages" },
  processes: { is: "Ferli", en: "Processes" },
  processesOf: {
    is: (ready: number, all: number) => `${ready} af ${all}`,
    en: (ready: number, all: number) => `${ready} of ${all}`,
  },
  sessions: { is: "Í gangi", en: "In progress" },
  streamsMax: { is: "Streymi mest", en: "Streams at most" },
  modelStateOf: {
    MODEL_STATE_UNSPECIFIED: { is: "Óþekkt", en: "Unknown" },
    SERVING: { is: "Í notkun", en: "Serving" },
    LOADING: { is: "Að hlaðast", en: "Loading" },
    UNUSABLE: { is: "Skrár rangar", en: "Files wrong" },
    NOT_LOADED: { is: "Hleðst ekki", en: "Does not load" },
    SERVER_UNREACHABLE: { is: "Hýsing svarar ekki", en: "Server does not answer" },
    SERVER_BUSY: { is: "Hýsing full", en: "Server is full" },
    SERVER_DENIED: { is: "Hýsing hafnar lykli", en: "Server refuses the key" },
  },

  queues: { is: "Raðir", en: "Queues" },
  queue: { is: "Röð", en: "Queue" },
  queueOf: {
    transcriptJobs: { is: "Uppskriftarverk", en: "Transcript jobs" },
    alignmentJobs: { is: "Tímasetningarverk", en: "Alignment jobs" },
    mediaDescriptions: { is: "Skoðun á skrám", en: "Media descriptions" },
    webhookDeliveries: { is: "Sendingar vefkróka", en: "Webhook deliveries" },
  },
  waiting: { is: "Bíða", en: "Waiting" },
  running: { is: "Í vinnslu", en: "Running" },
  forContent: { is: "Bíða eftir skrá", en: "Waiting for a file" },
  oldest: { is: "Elsta bið", en: "Oldest wait" },
  failures: { is: "Verk síðasta sólarhrings sem mistókust", en: "Failed jobs of the last day" },
  noFailures: {
    is: "Ekkert verk sem var sent síðasta sólarhring hefur mistekist.",
    en: "No job that was submitted in the last 24 hours has failed.",
  },
  reason: { is: "Ástæða", en: "Reason" },
  noReason: { is: "Engin ástæða skráð", en: "No reason given" },
  count: { is: "Fjöldi", en: "Count" },
  byAccount: { is: "Verk eftir reikningum", en: "Jobs by account" },
  failed: { is: "Mistókust", en: "Failed" },

  models: { is: "Líkön á diski", en: "Models on disk" },
  size: { is: "Stærð", en: "Size" },
  builtin: { is: "Fylgir Hlust", en: "Comes with Hlust" },
  test: { is: "Prófa", en: "Test" },
  testOf: { is: (model: string) => `Prófa ${model}`, en: (model: string) => `Test ${model}` },
  remove: { is: "Fjarlægja", en: "Remove" },
  removeOf: {
    is: (model: string) => `Fjarlægja ${model}`,
    en: (model: string) => `Remove ${model}`,
  },
  removeTitle: {
    is: (model: string, host: string) => `Fjarlægja ${model} af ${host}?`,
    en: (model: string, host: string) => `Remove ${model} from ${host}?`,
  },
  removeNext: {
    is: "Skrám líkansins er eytt af þessum hnút og hann hættir að nota það innan nokkurra sekúndna. Hægt er að sækja það aftur.",
    en: "The files of the model are deleted from this node, which stops using it within seconds. It can be pulled again.",
  },
  pullTitle: { is: "Sækja líkan", en: "Pull a model" },
  pullNext: {
    is: "Hver hnútur sækir í sína möppu (HLUST_MODELS) og notar líkanið innan nokkurra sekúndna. Hnútar með sameiginlega möppu sækja einu sinni.",
    en: "Each node pulls into its own folder (HLUST_MODELS) and serves the model within seconds. Nodes that share a folder pull once.",
  },
  pull: { is: "Sækja", en: "Pull" },
  noFolder: {
    is: "Enginn hnútur getur skrifað í líkanamöppu sína.",
    en: "No node can write to its models folder.",
  },
  tasks: { is: "Aðgerðir á líkönum", en: "Tasks with models" },
  kindOf: {
    MODEL_TASK_KIND_UNSPECIFIED: { is: "Óþekkt", en: "Unknown" },
    PULL: { is: "Sækja", en: "Pull" },
    REMOVE: { is: "Fjarlægja", en: "Remove" },
    TEST: { is: "Prófa", en: "Test" },
  },
  taskStateOf: {
    MODEL_TASK_STATE_UNSPECIFIED: { is: "Óþekkt", en: "Unknown" },
    WAITING: { is: "Bíður", en: "Waiting" },
    RUNNING: { is: "Í gangi", en: "Running" },
    SUCCEEDED: { is: "Lokið", en: "Done" },
    FAILED: { is: "Mistókst", en: "Failed" },
    CANCELLED: { is: "Hætt við", en: "Cancelled" },
  },
  received: {
    is: (received: string, total: string) => `${received} af ${total}`,
    en: (received: string, total: string) => `${received} of ${total}`,
  },
  progressOf: {
    is: (model: string) => `Framvinda: ${model}`,
    en: (model: string) => `Progress: ${model}`,
  },
  figures: {
    is: (audio: string, took: string) => `${audio} sek. af hljóði á ${took} sek.`,
    en: (audio: string, took: string) => `${audio} s of audio in ${took} s`,
  },
  cancelOf: {
    is: (model: string) => `Hætta við: ${model}`,
    en: (model: string) => `Cancel: ${model}`,
  },

  accounts: { is: "Reikningar", en: "Accounts" },
  account: { is: "Reikningur", en: "Account" },
  unnamed: { is: "Án nafns", en: "Without a name" },
  accountFacts: {
    is: (members: number, keys: number) => `Notendur: ${members} · lyklar: ${keys}`,
    en: (members: number, keys: number) => `Members: ${members} · keys: ${keys}`,
  },
  disabled: { is: "Lokaður", en: "Disabled" },
  change: { is: "Breyta mörkum", en: "Change limits" },
  changeOf: {
    is: (name: string) => `Breyta mörkum: ${name}`,
    en: (name: string) => `Change limits: ${name}`,
  },
  limitsHint: {
    is: "Tómt: sjálfgefin mörk þjónustunnar. 0: engin mörk.",
    en: "Empty: the default of the service. 0: no limit.",
  },
  limitOf: {
    requestsPerMinute: { is: "Köll á mínútu", en: "Requests per minute" },
    concurrentStreams: { is: "Opin streymi", en: "Open streams" },
    queuedJobs: { is: "Verk sem ekki er lokið", en: "Unfinished jobs" },
    audioSecondsPerDay: { is: "Sekúndur af hljóði á dag", en: "Seconds of audio per day" },
    storedBytes: { is: "Geymd bæti", en: "Stored bytes" },
  },
  limitWrong: {
    is: "Skrifaðu heila tölu, eða ekkert.",
    en: "Write a whole number, or nothing.",
  },
  limitsSaved: {
    is: (name: string) => `Mörkum breytt: ${name}`,
    en: (name: string) => `Limits changed: ${name}`,
  },
  disable: { is: "Loka reikningi", en: "Disable account" },
  disableOf: {
    is: (name: string) => `Loka reikningi: ${name}`,
    en: (name: string) => `Disable account: ${name}`,
  },
  disableTitle: {
    is: (name: string) => `Loka reikningnum ${name}?`,
    en: (name: string) => `Disable the account ${name}?`,
  },
  disableNext: {
    is: "Lyklum og notendum reikningsins er hafnað innan sekúndu og opnum streymum lýkur. Gögnin eru geymd, og hægt er að opna hann aftur.",
    en: "Its keys and members are refused within a second, and open streams end. Its data is kept, and it can be enabled again.",
  },
  isDisabled: {
    is: (name: string) => `Reikningi lokað: ${name}`,
    en: (name: string) => `Account disabled: ${name}`,
  },
  enable: { is: "Opna aftur", en: "Enable" },
  enableOf: {
    is: (name: string) => `Opna aftur: ${name}`,
    en: (name: string) => `Enable: ${name}`,
  },
  isEnabled: {
    is: (name: string) => `Reikningur opnaður: ${name}`,
    en: (name: string) => `Account enabled: ${name}`,
  },
  more: { is: "Sýna fleiri", en: "Show more" },
} as const;

/** Problems that only the page for operators has. */
export const operatorProblems: Problems = {
  TOO_MANY_MODEL_TASKS: {
    sentence: { is: "Of margar aðgerðir bíða.", en: "Too many tasks wait." },
    next: { is: "Hættu við eina fyrst.", en: "Cancel one first." },
  },
  OWN_ACCOUNT: {
    sentence: {
      is: "Þetta er þinn eigin reikningur.",
      en: "This is your own account.",
    },
    next: {
      is: "Biddu annan rekstraraðila, eða notaðu hlust accounts disable.",
      en: "Ask another operator, or use hlust accounts disable.",
    },
  },
};
