/** Texts of the live page. */
export const liveText = {
  sub: { is: "Talaðu, og orðin birtast.", en: "Speak, and the words appear." },
  invitation: { is: "Ýttu á hnappinn og talaðu.", en: "Press the button and speak." },
  listen: { is: "Hlusta", en: "Listen" },
  continue: { is: "Halda áfram", en: "Continue" },
  stop: { is: "Stöðva", en: "Stop" },
  opening: { is: "Opna hljóðnemann…", en: "Opening the microphone…" },
  listening: { is: "Hlustar", en: "Listening" },
  finishing: { is: "Síðustu orðin eru á leiðinni…", en: "Waiting for the last words…" },
  waiting: { is: "Bíður eftir þjónustunni", en: "Waiting for the service" },
  stopped: { is: "Hlé", en: "Paused" },
  ready: { is: "Tilbúið", en: "Ready" },
  escStops: { is: "Esc stöðvar", en: "Esc stops" },
  /** The name of a language as the object of "I speak": "ég tala íslensku". */
  spoken: { is: (name: string) => name.replace(/a$/, "u"), en: (name: string) => name },
  iSpeak: { is: "Ég tala", en: "I speak" },
  microphone: { is: "Hljóðnemi", en: "Microphone" },
  microphoneUnnamed: { is: (n: number) => `Hljóðnemi ${n}`, en: (n: number) => `Microphone ${n}` },
  level: { is: "Hljóðstyrkur", en: "Audio level" },
  toEnd: { is: "Fara neðst", en: "Jump to the end" },
  saveAs: { is: "Vista sem uppskrift", en: "Save as transcript" },
  startOver: { is: "Byrja upp á nýtt", en: "Start over" },
  wordAfter: { is: "orð birtast eftir", en: "words appear after" },
  sentenceAfter: { is: "setningar tilbúnar eftir", en: "sentences are final after" },
  mostWithin: { is: "95% innan", en: "95% within" },
  delayMeaning: {
    is: "Frá því að orð hefur verið sagt þar til það sést, og frá því að setningu lýkur þar til hún breytist ekki meir. Miðgildi.",
    en: "The time from the end of a word until it appears, and from the end of a sentence until its text is final. Medians.",
  },
  recorded: {
    is: (length: string, size: string) => `${length} · ${size} geymd í vafranum`,
    en: (length: string, size: string) => `${length} · ${size} stored in the browser`,
  },
  lost: {
    is: (seconds: string) => `Hljóð sem náðist ekki: ${seconds} s.`,
    en: (seconds: string) => `Audio lost: ${seconds} s.`,
  },
  unsent: {
    is: (span: string) => `Ósent: ${span}`,
    en: (span: string) => `Not sent yet: ${span}`,
  },
  silent: {
    is: "Ekkert heyrist. Er rétti hljóðneminn valinn, og kveikt á honum?",
    en: "No sound detected. Is the right microphone selected, and is it on?",
  },
  resume: { is: "Hlusta áfram", en: "Resume listening" },
  tryNow: { is: "Reyna núna", en: "Try now" },
  notAllowed: {
    is: "Aðgangur þinn nær ekki til talgreiningar.",
    en: "Your access does not include speech recognition.",
  },
  notAllowedNext: {
    is: "Eigandi reikningsins getur bætt henni við.",
    en: "An owner of the account can add it.",
  },
  wordsSaved: {
    is: "Orðin eru vistuð, en hljóðið ekki enn.",
    en: "The text is saved, but the audio is not saved yet.",
  },
  wordsSavedNext: {
    is: "Ljúktu við að vista, svo að hvort tveggja sé á sínum stað.",
    en: "Finish saving to keep both.",
  },
  finishSaving: { is: "Ljúka við að vista", en: "Finish saving" },

  // Texts for saving a recording.
  subject: { is: "Titill", en: "Title" },
  subjectDefault: {
    is: (day: string, time: string) => `Beint ${day} kl. ${time}`,
    en: (day: string, time: string) => `Live ${day}, ${time}`,
  },
  saveMeaning: {
    is: (length: string, size: string) =>
      `Orðin vistast með tímum sínum og hljóðinu: ${length}, ${size}.`,
    en: (length: string, size: string) =>
      `The text is saved with its word times and the audio: ${length}, ${size}.`,
  },
  saveUnfinished: {
    is: (span: string) =>
      `Ekki næst að ljúka við textann (óskrifað: ${span}). Hljóðið vistast allt, og það sem komið er af textanum.`,
    en: (span: string) =>
      `The text cannot be completed (not yet transcribed: ${span}). All of the audio is saved, and the text so far.`,
  },
  savingWords: { is: "Vista orðin…", en: "Saving the text…" },
  savingSound: {
    is: (done: string, all: string) => `Sendi hljóðið: ${done} af ${all}`,
    en: (done: string, all: string) => `Uploading the audio: ${done} of ${all}`,
  },
  savingLast: { is: "Geng frá upptökunni…", en: "Finishing the recording…" },
  openWithoutSound: { is: "Opna uppskriftina án hljóðs", en: "Open the transcript without audio" },
  saved: { is: "Uppskriftin er vistuð.", en: "The transcript is saved." },

  // Texts for recordings that were left.
  left: {
    is: (day: string, time: string, length: string) =>
      `Óvistuð upptaka frá ${day} kl. ${time}, ${length}, er geymd í vafranum.`,
    en: (day: string, time: string, length: string) =>
      `An unsaved recording of ${day}, ${time} (${length}) is stored in this browser.`,
  },
  openLeft: { is: "Opna upptökuna", en: "Open the recording" },
  discardLeft: { is: "Farga henni", en: "Discard it" },
  unstored: {
    is: "Vafrinn getur ekki geymt upptökuna. Hafðu síðuna opna þar til upptakan er vistuð.",
    en: "The browser cannot store the recording. Keep this page open until the recording is saved.",
  },

  // Texts for leaving the page.
  leaveTitle: { is: "Orðin eru ekki vistuð", en: "Your recording is not saved" },
  leaveMeaning: {
    is: "Ef þú ferð núna hverfur það sem þú sagðir, bæði textinn og hljóðið.",
    en: "If you leave now, both the text and the audio will be lost.",
  },
  leave: { is: "Fara án þess að vista", en: "Leave without saving" },
  stay: { is: "Vera áfram", en: "Stay" },
  startOverTitle: { is: "Byrja upp á nýtt?", en: "Start over?" },
  startOverMeaning: {
    is: "Það sem þú sagðir hverfur, bæði textinn og hljóðið.",
    en: "Both the text and the audio will be discarded.",
  },
  discard: { is: "Farga upptökunni", en: "Discard" },

  // Texts about the example program.
  asProgram: { is: "Sama úr forriti", en: "Do the same from a program" },
  asProgramMeaning: {
    is: "Curl kann ekki á vefsökkla; þetta keyrir á Node 22 og nýrra. Lykill fæst á síðunni Lyklar.",
    en: "curl does not support WebSockets; this runs on Node 22 and later. You can find the key on the Keys page.",
  },
} as const;

/** Reasons why a microphone delivers no audio, and what to do next. */
export const microphoneText = {
  insecure: {
    sentence: {
      is: "Vafrinn leyfir ekki hljóðnema hér.",
      en: "The browser does not allow a microphone here.",
    },
    next: {
      is: "Síðan þarf að opnast yfir https, eða á sömu vél og þjónustan keyrir á.",
      en: "Open the page over https, or on the machine that runs the service.",
    },
  },
  refused: {
    sentence: { is: "Vafrinn fær ekki að hlusta.", en: "Microphone access is blocked." },
    next: {
      is: "Smelltu á táknið í veffangastikunni, leyfðu hljóðnemann þar og ýttu aftur á hnappinn. Sum tæki leyfa hann líka í stillingum sínum.",
      en: "Click the icon in front of the page's address, allow the microphone there, and press the button again. On some devices you also need to allow it in the settings.",
    },
  },
  missing: {
    sentence: { is: "Enginn hljóðnemi fannst.", en: "No microphone was found." },
    next: {
      is: "Tengdu hljóðnema og ýttu aftur á hnappinn.",
      en: "Connect a microphone and press the button again.",
    },
  },
  busy: {
    sentence: { is: "Hljóðneminn er upptekinn.", en: "The microphone is in use." },
    next: {
      is: "Lokaðu forritinu sem notar hann og ýttu aftur á hnappinn, eða veldu annan hljóðnema.",
      en: "Close the program that uses it and press the button again, or choose another microphone.",
    },
  },
  broken: {
    sentence: { is: "Hljóðneminn opnaðist ekki.", en: "The microphone could not be opened." },
    next: {
      is: "Prófaðu annan hljóðnema, eða ýttu aftur á hnappinn.",
      en: "Try another microphone, or press the button again.",
    },
  },
  gone: {
    sentence: { is: "Hljóðneminn aftengdist.", en: "The microphone was disconnected." },
    next: {
      is: "Allt sem þú sagðir er hér. Tengdu hann aftur og haltu áfram, eða vistaðu það sem komið er.",
      en: "Everything you said is here. Reconnect it and continue, or save what you have.",
    },
  },
  full: {
    sentence: {
      is: "Upptakan er orðin fjögurra tíma löng.",
      en: "Maximum length reached: the recording is four hours long.",
    },
    next: {
      is: "Lengri verður hún ekki. Vistaðu hana og byrjaðu á nýrri.",
      en: "Save it and start a new one.",
    },
  },
  muted: {
    sentence: { is: "Slökkt er á hljóðnemanum.", en: "The microphone is muted." },
    next: {
      is: "Kveiktu á honum á tækinu eða í stillingum þess.",
      en: "Turn it on, on the device or in its settings.",
    },
  },
  suspended: {
    sentence: { is: "Vafrinn hætti að hlusta.", en: "The browser has stopped listening." },
    next: {
      is: "Allt sem þú sagðir er hér.",
      en: "Everything you said is here.",
    },
  },
} as const;

/** Reasons why the service receives no audio at the moment. */
export const connectionText = {
  offline: {
    sentence: {
      is: "Sambandið við þjónustuna rofnaði.",
      en: "The connection to the service was lost.",
    },
    next: {
      is: "Haltu bara áfram: allt sem þú segir er geymt hér og verður skrifað þegar samband næst.",
      en: "Keep talking: everything you say is stored here and transcribed once the service responds.",
    },
  },
  full: {
    sentence: {
      is: "Þjónustan hlustar á eins marga og hún getur.",
      en: "The service is at full capacity.",
    },
    next: {
      is: "Það sem þú segir er geymt og verður skrifað þegar pláss losnar.",
      en: "What you say is stored and transcribed when capacity is available.",
    },
  },
  audioLimit: {
    sentence: {
      is: "Reikningurinn hefur notað það sem hann má á dag.",
      en: "The account has reached its daily limit of audio.",
    },
    next: {
      is: "Það sem þú segir er geymt. Vistaðu það, eða biddu um hærri mörk.",
      en: "What you say is stored. Save it, or ask for a higher limit.",
    },
  },
} as const;
