/** Texts of the live microphone. */
export const liveText = {
  sub: { is: "Talaðu, og orðin birtast.", en: "Speak, and the words appear." },
  invitation: { is: "Ýttu á hnappinn og talaðu.", en: "Press the button and speak." },
  listen: { is: "Hlusta", en: "Listen" },
  goOn: { is: "Halda áfram", en: "Go on" },
  stop: { is: "Stöðva", en: "Stop" },
  opening: { is: "Opna hljóðnemann…", en: "Opening the microphone…" },
  listening: { is: "Hlustar", en: "Listening" },
  finishing: { is: "Síðustu orðin eru á leiðinni…", en: "The last words are on their way…" },
  waiting: { is: "Bíður eftir þjónustunni", en: "Waiting for the service" },
  stopped: { is: "Hlé", en: "Paused" },
  ready: { is: "Tilbúið", en: "Ready" },
  escStops: { is: "Esc stöðvar", en: "Esc stops" },
  /** The name of a language as what is spoken: "ég tala íslensku". */
  spoken: { is: (name: string) => name.replace(/a$/, "u"), en: (name: string) => name },
  iSpeak: { is: "Ég tala", en: "I speak" },
  microphone: { is: "Hljóðnemi", en: "Microphone" },
  microphoneUnnamed: { is: (n: number) => `Hljóðnemi ${n}`, en: (n: number) => `Microphone ${n}` },
  level: { is: "Hljóðstyrkur", en: "Sound level" },
  toEnd: { is: "Fara neðst", en: "Go to the end" },
  saveAs: { is: "Vista sem uppskrift", en: "Save as a transcript" },
  startOver: { is: "Byrja upp á nýtt", en: "Start over" },
  wordAfter: { is: "orð eftir", en: "word after" },
  sentenceAfter: { is: "setning eftir", en: "sentence after" },
  mostWithin: { is: "95% innan", en: "95% within" },
  delayMeaning: {
    is: "Frá því að orð hefur verið sagt þar til það sést, og frá því að setningu lýkur þar til hún breytist ekki meir. Miðgildi.",
    en: "From when a word has been said until it is seen, and from the end of a sentence until it changes no more. Medians.",
  },
  recorded: {
    is: (length: string, size: string) => `${length} · ${size} geymd í vafranum`,
    en: (length: string, size: string) => `${length} · ${size} kept in the browser`,
  },
  lost: {
    is: (seconds: string) => `Hljóð sem náðist ekki: ${seconds} s.`,
    en: (seconds: string) => `Sound that was missed: ${seconds} s.`,
  },
  unsent: {
    is: (span: string) => `Ósent: ${span}`,
    en: (span: string) => `Not sent yet: ${span}`,
  },
  silent: {
    is: "Ekkert heyrist. Er rétti hljóðneminn valinn, og kveikt á honum?",
    en: "Nothing is heard. Is it the right microphone, and is it on?",
  },
  resume: { is: "Hlusta áfram", en: "Listen again" },
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
    en: "The words are saved, but the sound is not yet.",
  },
  wordsSavedNext: {
    is: "Ljúktu við að vista, svo að hvort tveggja sé á sínum stað.",
    en: "Finish saving, so that both are in their place.",
  },
  finishSaving: { is: "Ljúka við að vista", en: "Finish saving" },

  // Saving.
  subject: { is: "Heiti", en: "Subject" },
  subjectDefault: {
    is: (day: string, time: string) => `Beint ${day} kl. ${time}`,
    en: (day: string, time: string) => `Live ${day}, ${time}`,
  },
  saveMeaning: {
    is: (length: string, size: string) =>
      `Orðin vistast með tímum sínum og hljóðinu: ${length}, ${size}.`,
    en: (length: string, size: string) =>
      `The words are saved with their times and the sound: ${length}, ${size}.`,
  },
  saveUnfinished: {
    is: (span: string) =>
      `Ekki næst að ljúka við textann (óskrifað: ${span}). Hljóðið vistast allt, og það sem komið er af textanum.`,
    en: (span: string) =>
      `The text cannot be finished (not written yet: ${span}). All of the sound is saved, and the text so far.`,
  },
  savingWords: { is: "Vista orðin…", en: "Saving the words…" },
  savingSound: {
    is: (done: string, all: string) => `Sendi hljóðið: ${done} af ${all}`,
    en: (done: string, all: string) => `Sending the sound: ${done} of ${all}`,
  },
  savingLast: { is: "Geng frá upptökunni…", en: "Putting the recording in its place…" },
  openWithoutSound: { is: "Opna uppskriftina án hljóðs", en: "Open the transcript without sound" },
  saved: { is: "Uppskriftin er vistuð.", en: "The transcript is saved." },

  // Leaving.
  leaveTitle: { is: "Orðin eru ekki vistuð", en: "The words are not saved" },
  leaveMeaning: {
    is: "Ef þú ferð núna hverfur það sem þú sagðir, bæði textinn og hljóðið.",
    en: "If you leave now, what you said is gone, both the text and the sound.",
  },
  leave: { is: "Fara án þess að vista", en: "Leave without saving" },
  stay: { is: "Vera áfram", en: "Stay" },
  startOverTitle: { is: "Byrja upp á nýtt?", en: "Start over?" },
  startOverMeaning: {
    is: "Það sem þú sagðir hverfur, bæði textinn og hljóðið.",
    en: "What you said will be gone, both the text and the sound.",
  },
  discard: { is: "Henda þessu", en: "Throw it away" },

  // As a program.
  asProgram: { is: "Sama úr forriti", en: "The same from a program" },
  asProgramMeaning: {
    is: "Curl kann ekki á vefsökkla; þetta keyrir á Node 22 og nýrra. Lykill fæst á síðunni Lyklar.",
    en: "Curl does not do WebSockets; this runs on Node 22 and later. The page Keys has the key.",
  },
} as const;

/** Why a microphone gives nothing, and what to do next. */
export const microphoneText = {
  insecure: {
    sentence: {
      is: "Vafrinn leyfir ekki hljóðnema hér.",
      en: "The browser allows no microphone here.",
    },
    next: {
      is: "Síðan þarf að opnast yfir https, eða á sömu vél og þjónustan keyrir á.",
      en: "Open the page over https, or on the machine that the service runs on.",
    },
  },
  refused: {
    sentence: { is: "Vafrinn fær ekki að hlusta.", en: "The browser may not listen." },
    next: {
      is: "Smelltu á táknið fremst í slóð síðunnar, leyfðu hljóðnemann þar og ýttu aftur á hnappinn. Sum tæki leyfa hann líka í stillingum sínum.",
      en: "Press the sign before the page's address, allow the microphone there, and press the button again. Some devices allow it in their settings, too.",
    },
  },
  missing: {
    sentence: { is: "Enginn hljóðnemi fannst.", en: "There is no microphone." },
    next: {
      is: "Tengdu hljóðnema og ýttu aftur á hnappinn.",
      en: "Connect one and press the button again.",
    },
  },
  busy: {
    sentence: { is: "Hljóðneminn er upptekinn.", en: "The microphone is taken." },
    next: {
      is: "Lokaðu forritinu sem notar hann og ýttu aftur á hnappinn, eða veldu annan hljóðnema.",
      en: "Close the program that uses it and press the button again, or choose another one.",
    },
  },
  broken: {
    sentence: { is: "Hljóðneminn opnaðist ekki.", en: "The microphone did not open." },
    next: {
      is: "Prófaðu annan hljóðnema, eða ýttu aftur á hnappinn.",
      en: "Try another microphone, or press the button again.",
    },
  },
  gone: {
    sentence: { is: "Hljóðneminn aftengdist.", en: "The microphone went away." },
    next: {
      is: "Allt sem þú sagðir er hér. Tengdu hann aftur og haltu áfram, eða vistaðu það sem komið er.",
      en: "All that you said is here. Connect it and go on, or save what there is.",
    },
  },
  full: {
    sentence: {
      is: "Upptakan er orðin fjögurra tíma löng.",
      en: "The recording is four hours long.",
    },
    next: {
      is: "Lengri verður hún ekki. Vistaðu hana og byrjaðu á nýrri.",
      en: "It gets no longer. Save it and begin another one.",
    },
  },
  muted: {
    sentence: { is: "Slökkt er á hljóðnemanum.", en: "The microphone is muted." },
    next: {
      is: "Kveiktu á honum á tækinu eða í stillingum þess.",
      en: "Turn it on, at the device or in its settings.",
    },
  },
  suspended: {
    sentence: { is: "Vafrinn hætti að hlusta.", en: "The browser has stopped listening." },
    next: {
      is: "Allt sem þú sagðir er hér.",
      en: "All that you said is here.",
    },
  },
} as const;

/** Why the service does not hear at the moment. */
export const linkText = {
  offline: {
    sentence: {
      is: "Sambandið við þjónustuna rofnaði.",
      en: "The connection to the service broke.",
    },
    next: {
      is: "Haltu bara áfram: allt sem þú segir er geymt hér og verður skrifað þegar samband næst.",
      en: "Just go on: all that you say is kept here, and is written when the connection is back.",
    },
  },
  full: {
    sentence: {
      is: "Þjónustan hlustar á eins marga og hún getur.",
      en: "The service listens to as many as it can.",
    },
    next: {
      is: "Það sem þú segir er geymt og verður skrifað þegar pláss losnar.",
      en: "What you say is kept, and is written when there is room.",
    },
  },
  audioLimit: {
    sentence: {
      is: "Reikningurinn hefur notað það sem hann má á dag.",
      en: "The account has used what it may in a day.",
    },
    next: {
      is: "Það sem þú segir er geymt. Vistaðu það, eða biddu um hærri mörk.",
      en: "What you say is kept. Save it, or ask for a higher limit.",
    },
  },
} as const;
