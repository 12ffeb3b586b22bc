/** Creates a segment whose words take `seconds` each, beginning at `start`. */
export function segmentOf(text: string, start = 0, seconds = 0.5) {
  const words = text.split(/(?<=\s)/).map((word, at) => ({
    startTime: `${start + at * seconds}s`,
    endTime: `${start + (at + 1) * seconds}s`,
    word,
  }));
  return { startTime: `${start}s`, endTime: `${start + words.length * seconds}s`, words };
}

/** Returns a transcript to create. */
export function draftOf(subject: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    metadata: {
      fileType: "AUDIO",
      languageCode: "is-IS",
      subject,
      keywords: ["prufa"],
      dictation: true,
      ...more,
    },
    segments: [segmentOf("góðan dag "), segmentOf("og velkomin", 2)],
  };
}

/** Makes a speaker as answers have it. */
export function speaker(fullName: string) {
  return { fullName, ageGroup: "AGE_GROUP_UNSPECIFIED", gender: "GENDER_UNSPECIFIED" };
}
