/** Texts of the page about other programs. */
export const programsText = {
  title: { is: "Með öðrum forritum", en: "Use it with other programs" },
  sub: {
    is: "Forrit sem kunna á talgreiningu annarra þjónusta virka með Hlust. Þau þurfa aðeins slóð og lykil.",
    en: "Programs that know the speech recognition of other services work with Hlust. They need only an address and a key.",
  },
  key: {
    is: "Settu lykil í stað KEY. Lykillinn þarf heimildina tal.",
    en: "Put a key in place of KEY. It needs the scope for speech.",
  },
  makeKey: { is: "Búa til lykil", en: "Create a key" },
  language: {
    is: "Veldu íslensku (is) í forritinu ef hægt er. Ef það á ekkert tungumál skaltu nota slóð með tungumálinu í.",
    en: "Choose the language (is, en) in the program if it has one. If it has none, use an address that names the language.",
  },
  address: { is: "Slóð", en: "Address" },
  addressWithLanguage: { is: "Slóð með tungumáli", en: "Address with a language" },
  anyProgram: {
    is: "Öll forrit sem kunna á talgreiningu OpenAI (Whisper)",
    en: "Any program for OpenAI's speech to text (Whisper)",
  },
  anyModel: {
    is: "Nafn líkans má vera hvað sem er; tungumálið ræður líkaninu.",
    en: "The name of the model can be anything: the language chooses the model.",
  },
  openWebUi: {
    is: "Settings → Admin → Audio: veldu OpenAI sem Speech-to-Text Engine og Multipart Upload sem Request Format. Eða með umhverfisbreytum:",
    en: "Settings → Admin → Audio: choose OpenAI as the Speech-to-Text Engine and Multipart Upload as the Request Format. Or with environment variables:",
  },
  libreChat: { is: "Í librechat.yaml:", en: "In librechat.yaml:" },
  nextcloud: {
    is: "Í stillingum appsins „OpenAI and LocalAI integration“, í reitnum Service URL:",
    en: "In the settings of the app “OpenAI and LocalAI integration”, in the field Service URL:",
  },
  n8n: {
    is: "Í skilríkjunum „OpenAI API“: lykillinn er API Key, og í reitinn Base URL:",
    en: "In the credential “OpenAI API”: the key is the API Key, and in the field Base URL:",
  },
  subtitleEdit: {
    is: "Video → Speech to text: veldu þjónustu sem fylgir OpenAI, með slóðinni:",
    en: "Video → Speech to text: choose a service that is compatible with OpenAI, with the address:",
  },
  bazarr: {
    is: "Í stillingum Whisper-veitunnar. Lykillinn er í slóðinni, þar sem Bazarr á engan reit fyrir hann:",
    en: "In the settings of the Whisper provider. The key is in the address, since Bazarr has no field for it:",
  },
  homeAssistant: {
    is: "Stjórnandi þjónustunnar setur HLUST_WYOMING_LISTEN (sjá docs/dialects.md). Svo í Settings → Devices & services → Add integration → Wyoming Protocol:",
    en: "The operator of the service sets HLUST_WYOMING_LISTEN (see docs/dialects.md). Then in Settings → Devices & services → Add integration → Wyoming Protocol:",
  },
  liveKit: {
    is: "Með viðbótinni @livekit/agents-plugin-deepgram:",
    en: "With the plug-in @livekit/agents-plugin-deepgram:",
  },
  pipecat: {
    is: "Með pakkanum pipecat-ai[deepgram]:",
    en: "With the package pipecat-ai[deepgram]:",
  },
  jitsi: {
    is: "Í sip-communicator.properties hjá Jigasi, slóð fyrir hvert tungumál:",
    en: "In sip-communicator.properties of Jigasi, an address for each language:",
  },
  bigBlueButton: {
    is: "Í stillingum bbb-transcription-controller, slóð fyrir hvert tungumál:",
    en: "In the configuration of bbb-transcription-controller, an address for each language:",
  },
  asterisk: {
    is: "Í res_speech_vosk.conf, með einingunni res_speech_vosk:",
    en: "In res_speech_vosk.conf, with the module res_speech_vosk:",
  },
  freeSwitch: {
    is: "Í autoload_configs/vosk.conf.xml, með einingunni mod_vosk:",
    en: "In autoload_configs/vosk.conf.xml, with the module mod_vosk:",
  },
  jambonz: {
    is: "Í Speech → Add speech service → Custom: lykillinn er API key og þetta er slóð STT:",
    en: "In Speech → Add speech service → Custom: the key is the API key, and this is the STT address:",
  },
  terminal: { is: "Skipanalína", en: "Command line" },
  python: { is: "Python, með pakkanum openai:", en: "Python, with the package openai:" },
  typeScript: {
    is: "JavaScript, með pakkanum openai:",
    en: "JavaScript, with the package openai:",
  },
  more: {
    is: "Hvað hvert forrit getur beðið um stendur í docs/dialects.md.",
    en: "docs/dialects.md describes what each program can ask for.",
  },
} as const;
