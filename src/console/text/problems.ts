import { ApiError } from "../api/api-error.ts";
import type { Phrase } from "./language.tsx";

/** A description of what went wrong, in words for the user, and of what to do next. */
export interface Problem {
  readonly sentence: Phrase<string>;
  readonly next: Phrase<string>;
  /** The service's own words, in English, if the console has none for the error. */
  readonly detail?: string;
}

/** Problems by the reason or the HTTP status of an error. */
export type Problems = Readonly<Record<string | number, Problem>>;

/** What the console says if it has no words for why the service refused something. */
export const refusedText: Phrase<string> = {
  is: "Þjónustan tók ekki við þessu.",
  en: "The service did not accept this.",
};

/**
 * Returns how a page explains an error: according to its reason, else its HTTP status, else in
 * general, with the service's own words as a detail. `own` has the problems that only this page
 * has, which take precedence.
 */
export function problemOf(error: unknown, own: Problems = {}): Problem {
  if (!(error instanceof ApiError)) return broken;
  const { reason, status, message } = error;
  const known =
    find(own, reason) ?? find(problems, reason) ?? find(own, status) ?? find(problems, status);
  if (!known && status >= 500) return failed;
  return known ?? { sentence: refusedText, next: nextOf(status), detail: message };
}

/**
 * Finds a problem among the table's own entries. Reasons also come from page addresses, so names
 * such as "constructor" must not be found.
 */
function find(among: Problems, name: string | number): Problem | undefined {
  return Object.hasOwn(among, name) ? among[name] : undefined;
}

function nextOf(status: number): Phrase<string> {
  if (status >= 500) return nexts.later;
  return status === 400 || status === 422 ? nexts.correct : nexts.back;
}

const nexts = {
  correct: { is: "Lagfærðu þetta og reyndu aftur.", en: "Correct it and try again." },
  later: {
    is: "Reyndu aftur eftir augnablik. Ef þetta endurtekur sig segir dagbók þjónustunnar hvers vegna.",
    en: "Try again in a moment. If this keeps happening, the service's log has the reason.",
  },
  back: {
    is: "Farðu til baka og reyndu aftur.",
    en: "Go back and try again.",
  },
};

const broken: Problem = {
  sentence: { is: "Síðan bilaði.", en: "The page stopped working." },
  next: {
    is: "Það er okkur að kenna. Hladdu síðunni aftur.",
    en: "This is our fault. Reload the page.",
  },
};

/**
 * Shown if the service, or a proxy in front of it, failed. The text of such a response is for the
 * operator.
 */
const failed: Problem = {
  sentence: { is: "Þjónustan gat ekki svarað.", en: "The service could not answer." },
  next: nexts.later,
};

const wrongOrigin: Problem = {
  sentence: {
    is: "Þjónustan tekur ekki við þessu frá þessari síðu.",
    en: "The service does not accept this from this page.",
  },
  next: {
    is: "Opnaðu síðuna á slóð þjónustunnar sjálfrar.",
    en: "Open the page at the service's own address.",
  },
};

const problems: Problems = {
  ORIGIN_REFUSED: wrongOrigin,
  CONSOLE_HEADER_MISSING: wrongOrigin,
  TOO_MANY_REQUESTS: {
    sentence: {
      is: "Reikningurinn hefur kallað oftar á þjónustuna en hann má á einni mínútu.",
      en: "The account has reached its limit of requests per minute.",
    },
    next: { is: "Bíddu í eina mínútu og reyndu svo aftur.", en: "Wait a minute, then try again." },
  },
  DATABASE_UNAVAILABLE: {
    sentence: {
      is: "Gagnagrunnur þjónustunnar svarar ekki.",
      en: "The service's database is not responding.",
    },
    next: nexts.later,
  },
  STORAGE_UNAVAILABLE: {
    sentence: {
      is: "Ekki næst í geymslu þjónustunnar.",
      en: "The service's storage cannot be reached.",
    },
    next: nexts.later,
  },
  OFFLINE: {
    sentence: { is: "Ekki næst í þjónustuna.", en: "The service cannot be reached." },
    next: {
      is: "Athugaðu netið. Síðan heldur áfram þegar samband næst.",
      en: "Check your network. The page continues when the connection is back.",
    },
  },
  SIGNED_OUT: {
    sentence: { is: "Innskráningin er runnin út.", en: "Your session has ended." },
    next: { is: "Skráðu þig inn aftur.", en: "Sign in again." },
  },
  SESSION_CHANGED: {
    sentence: {
      is: "Í öðrum flipa var skipt um reikning eða einhver annar skráður inn. Ekkert var gert.",
      en: "Another tab switched accounts or signed in as someone else. Nothing was changed.",
    },
    next: {
      is: "Hladdu síðunni aftur til að sjá hver er skráður inn.",
      en: "Reload the page to see who is signed in.",
    },
  },
  TOO_MANY_REFUSED: {
    sentence: {
      is: "Of mörgum tilraunum frá þessari vél hefur verið hafnað.",
      en: "There were too many failed attempts from this machine.",
    },
    next: {
      is: "Bíddu í eina mínútu og reyndu svo aftur.",
      en: "Wait a minute, then try again.",
    },
  },
  /** The problem for any limit without its own entry. */
  429: {
    sentence: { is: "Mörkum reikningsins er náð.", en: "The account has reached its limit." },
    next: {
      is: "Bíddu um stund, eða biddu rekstraraðilann um hærri mörk.",
      en: "Try again later, or ask the operator for a higher limit.",
    },
  },
  AUDIO_LIMIT: {
    sentence: {
      is: "Reikningurinn hefur notað allt hljóð sem hann má láta skrifa upp á dag.",
      en: "The account has reached its daily limit of audio.",
    },
    next: {
      is: "Reyndu aftur á morgun, eða biddu rekstraraðilann um hærri mörk.",
      en: "Try again tomorrow, or ask the operator for a higher limit.",
    },
  },
  STORAGE_LIMIT: {
    sentence: {
      is: "Ekki er meira pláss fyrir upptökur á reikningnum.",
      en: "The account has no space left for recordings.",
    },
    next: {
      is: "Eyddu gömlum uppskriftum og reyndu aftur.",
      en: "Delete old transcripts and try again.",
    },
  },
  FILE_CHANGED: {
    sentence: {
      is: "Skránni var breytt eða hún færð eftir að þú valdir hana.",
      en: "The file was changed or moved after you chose it.",
    },
    next: { is: "Fjarlægðu hana og veldu hana aftur.", en: "Remove it and choose it again." },
  },
  TOO_MANY_JOBS: {
    sentence: {
      is: "Of mörg verk bíða á reikningnum.",
      en: "The account has too many waiting jobs.",
    },
    next: {
      is: "Reyndu aftur þegar einhver þeirra eru búin.",
      en: "Try again when some of them have finished.",
    },
  },
  PAYLOAD_TOO_LARGE: {
    sentence: {
      is: "Skráin er stærri en þjónustan tekur við.",
      en: "The file is larger than the service accepts.",
    },
    next: {
      is: "Breyttu henni til dæmis í MP3, eða skiptu upptökunni.",
      en: "Convert it, for example to MP3, or split the recording.",
    },
  },
  STORAGE_FULL: {
    sentence: { is: "Diskur þjónustunnar er fullur.", en: "The service's disk is full." },
    next: {
      is: "Rekstraraðili hennar þarf að losa um pláss.",
      en: "The operator needs to free some space.",
    },
  },
  JOB_ENDED: {
    sentence: { is: "Verkinu var þegar lokið.", en: "The job had already finished." },
    next: { is: "Listinn sýnir hvernig.", en: "The list shows its result." },
  },
  FILTER_TOO_SLOW: {
    sentence: { is: "Leitin tók of langan tíma.", en: "The search took too long." },
    next: {
      is: "Leitaðu að lengra broti úr orði: þrír stafir eða fleiri í röð finnast fljótt.",
      en: "Search for a longer part of a word: three or more letters in a row are found quickly.",
    },
  },
  SEARCHES_BUSY: {
    sentence: { is: "Margar leitir bíða núna.", en: "Many searches are waiting right now." },
    next: { is: "Reyndu aftur eftir augnablik.", en: "Try again in a moment." },
  },
  VERSION_STALE: {
    sentence: {
      is: "Uppskriftinni var breytt annars staðar á meðan.",
      en: "The transcript was changed elsewhere in the meantime.",
    },
    next: {
      is: "Skoðaðu það sem nú stendur og reyndu aftur.",
      en: "Look at the current version and try again.",
    },
  },
  VERSION_NOT_FOUND: {
    sentence: { is: "Þessi útgáfa er ekki til.", en: "This version does not exist." },
    next: {
      is: "Veldu aðra úr listanum.",
      en: "Choose another version from the list.",
    },
  },
  FILES_BUSY: {
    sentence: {
      is: "Margar skrár og samanburðir bíða núna.",
      en: "Many files and comparisons are waiting right now.",
    },
    next: { is: "Reyndu aftur eftir augnablik.", en: "Try again in a moment." },
  },
  TRANSCRIPTS_BUSY: {
    sentence: {
      is: "Margar langar uppskriftir bíða núna.",
      en: "Many long transcripts are waiting right now.",
    },
    next: { is: "Reyndu aftur eftir augnablik.", en: "Try again in a moment." },
  },
  404: {
    sentence: { is: "Þetta finnst ekki.", en: "This was not found." },
    next: {
      is: "Því hefur ef til vill verið eytt. Farðu til baka í listann.",
      en: "It may have been deleted. Go back to the list.",
    },
  },
  403: {
    sentence: { is: "Þú hefur ekki leyfi til þess.", en: "You are not allowed to do that." },
    next: {
      is: "Eigandi reikningsins getur gefið það.",
      en: "An owner of the account can give you permission.",
    },
  },
};
