import { readConfig, type Config } from "./config.ts";
import { isLiveSetting, settingTexts } from "./settings/setting-groups.ts";

/** The names of the settings that a reload has found changed. */
export interface Reloaded {
  readonly changed: readonly string[];
  /** Those that change only with a restart. */
  readonly needRestart: readonly string[];
}

/**
 * The settings of a running service. What reads `config` sees the present values of the settings
 * that can change while the service runs (`isLive`), and of all others those of the start. Read the
 * former each time: a copy of one does not change.
 */
export class LiveConfig {
  readonly config: Config;
  #current: Config;
  /** The settings in force, as they were given. */
  #texts: ReadonlyMap<string, string>;

  /** `adapt` returns other settings than were given. Throws as readConfig() does. */
  constructor(environment: NodeJS.ProcessEnv, adapt: (config: Config) => Config = (same) => same) {
    const first = adapt(readConfig(environment));
    this.#current = first;
    this.#texts = settingTexts(environment);
    this.config = withLiveSettings(first, () => this.#current);
  }

  /**
   * Reads the settings again: files may have changed since, unlike the environment. If any is
   * invalid, throws as readConfig() does, and changes nothing.
   */
  reload(environment: NodeJS.ProcessEnv): Reloaded {
    const next = readConfig(environment);
    const texts = settingTexts(environment);
    const names = [...texts.keys()].filter((name) => texts.get(name) !== this.#texts.get(name));
    const changed = names.filter(isLiveSetting);
    this.#current = next;
    this.#texts = new Map(
      Array.from(texts, ([name, text]) => [
        name,
        isLiveSetting(name) ? text : (this.#texts.get(name) ?? ""),
      ]),
    );
    return { changed, needRestart: names.filter((name) => !isLiveSetting(name)) };
  }
}

/** Returns the first settings, with the live ones as getters. */
function withLiveSettings(first: Config, current: () => Config): Config {
  const accountLimits: Config["accountLimits"] = {
    get requestsPerMinute() {
      return current().accountLimits.requestsPerMinute;
    },
    get concurrentStreams() {
      return current().accountLimits.concurrentStreams;
    },
    get queuedJobs() {
      return current().accountLimits.queuedJobs;
    },
    get audioSecondsPerDay() {
      return current().accountLimits.audioSecondsPerDay;
    },
    storedBytes: first.accountLimits.storedBytes,
  };
  const { trustedProxies, connectionsMax, contact } = first.callers;
  const callers: Config["callers"] = {
    trustedProxies,
    connectionsMax,
    contact,
    get allowedOrigins() {
      return current().callers.allowedOrigins;
    },
    get connectionsPerAddress() {
      return current().callers.connectionsPerAddress;
    },
    get refusedPerMinute() {
      return current().callers.refusedPerMinute;
    },
  };
  return {
    ...first,
    accountLimits,
    callers,
    get logLevel() {
      return current().logLevel;
    },
    get modelChoice() {
      return current().modelChoice;
    },
    get streamSecondsMax() {
      return current().streamSecondsMax;
    },
    get drain() {
      return current().drain;
    },
    get tls() {
      // Whether there is TLS at all is decided at the start.
      return first.tls && (current().tls ?? first.tls);
    },
  };
}
