import { whole, type ReadSetting, type Setting } from "../std/setting.ts";

/** The settings for account limits, under the names of AccountLimits (hlust.accounts.v1). */
export const limitSettings = {
  requestsPerMinute: limit("REQUESTS_PER_MINUTE", "Calls of one account in 60 s", 60_000),
  concurrentStreams: limit("STREAMS", "Open live streams of one account", 0),
  queuedJobs: limit("JOBS_MAX", "Unfinished jobs of one account", 10_000),
  audioSecondsPerDay: limit("AUDIO_SECONDS_PER_DAY", "Audio of one account per day (UTC)", 0),
  storedBytes: {
    ...limit("STORED_BYTES", "Stored bytes of media and drafts of one account", 0, 2 ** 53 - 1),
    // Uploads that have begun have this limit.
    isLive: false,
  },
} as const;

function limit(name: string, what: string, fallback: number, max = 2 ** 31 - 1): Setting<number> {
  const text = `${fallback}`;
  return {
    name: `HLUST_ACCOUNT_${name}`,
    meaning: `${what}, at most; 0: unlimited. The operator can set another limit for an account`,
    fallback: text,
    isLive: true,
    parse: (value, setting) => whole(value ?? text, setting, 0, max),
  };
}

/** Reads the limits that apply to accounts without limits of their own. 0 means unlimited. */
export function readLimits(read: ReadSetting): Record<keyof typeof limitSettings, number> {
  return {
    requestsPerMinute: read(limitSettings.requestsPerMinute),
    concurrentStreams: read(limitSettings.concurrentStreams),
    queuedJobs: read(limitSettings.queuedJobs),
    audioSecondsPerDay: read(limitSettings.audioSecondsPerDay),
    storedBytes: read(limitSettings.storedBytes),
  };
}
