import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import type { DecoderOptions, Engine } from "../protocol/engine.ts";
import { AcousticModel } from "./acoustic-model.ts";
import { wordAligner } from "./align-words.ts";
import { DecoderMaker } from "./decoder-maker.ts";
import { FrontEnd } from "./front-end.ts";
import { HintedSearches } from "./hinted-searches.ts";
import { LiveDecoder } from "./live-decoder.ts";
import { Pronunciations } from "./pronunciations.ts";
import { type Places, SearchPool, SearchShare } from "./search-pool.ts";
import {
  checkEnglishModel,
  loadSphinxLibrary,
  type SphinxLibrary,
  type Views,
} from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";
import { WholeDecoder } from "./whole-decoder.ts";

/** These settings are fast enough for several streams per core. */
const liveSettings = { "-maxhmmpf": "10000" };
/**
 * The settings for whole utterances, and for the second search of full effort, with wider beams.
 * The limit makes them a third faster and no less accurate (bench/RESULTS.md).
 */
const wholeSettings = {
  "-beam": "1e-60",
  "-pbeam": "1e-60",
  "-wbeam": "1e-40",
  "-maxhmmpf": "10000",
};
/** The CPU time of the second search relative to that of the first. */
const fullEffort = 1.3;
/**
 * The maximum number of utterances of one mode that are searched in turns; others wait. More would
 * use additional memory and finish no sooner.
 */
const wholeMax = 2;

/**
 * Opens PocketSphinx 0.8 with Debian's model of American English. Throws an Error that names any
 * missing package.
 */
export async function openPocketsphinx(): Promise<Engine> {
  checkEnglishModel();
  const views = await loadSphinxLibrary();
  const { library, viewFloats } = views;
  const parts = { library, viewFloats, maker: new DecoderMaker(views) };
  const live = new SearchPool(parts, liveSettings);
  const whole = new SearchPool(parts, wholeSettings);
  const hinted = new HintedSearches(parts);
  // The places are separate: a job keeps its search while other modes have their turns, and
  // recognition without hints never waits for searches with hints.
  const places = { live: newPlaces(), short: newPlaces(), job: newPlaces() };
  const hintedPlaces = { live: newPlaces(), short: newPlaces(), job: newPlaces() };
  // The front end has its own configuration, because those of decoders may be in use on another
  // thread.
  const config = parseSettings(library, sphinxSettings({}));
  // Most processes never align words, so the parts for it are loaded when they are needed.
  let aligner: ReturnType<typeof openAligner> | undefined;
  return {
    name: "pocketsphinx",
    languageCodes: ["en-US"],
    utteranceMsMax: 20_000,
    takesHints: true,
    usesThreads: false,
    fullEffort,
    createDecoder({ mode, alternativesMax, hints = [] }: DecoderOptions) {
      const frontEnd = new FrontEnd(library, viewFloats, config);
      const isHinted = hints.length > 0;
      const pool = isHinted ? hinted.pool(wholeSettings, hints) : whole;
      const wholeSearches = new SearchShare(pool, (isHinted ? hintedPlaces : places)[mode]);
      if (mode !== "live") {
        return new WholeDecoder({ alternativesMax, frontEnd, searches: wholeSearches });
      }
      const searches = isHinted ? hinted.pool(liveSettings, hints) : live;
      return new LiveDecoder({ alternativesMax, frontEnd, searches, wholeSearches });
    },
    createVoiceActivity: () => new EnergyVoiceActivity(),
    align(window, words) {
      aligner ??= openAligner(views, () => new FrontEnd(library, viewFloats, config));
      return aligner.align(window, words);
    },
    close() {
      aligner?.close();
      live.close();
      whole.close();
      hinted.close();
      parts.maker.close();
      library.cmd_ln_free_r(config);
    },
  };
}

function newPlaces(): Places {
  return { max: wholeMax, taken: 0 };
}

/** Loads the acoustic model and the dictionary, which takes about 200 ms. */
function openAligner(
  { library, ...views }: { readonly library: SphinxLibrary } & Views,
  newFrontEnd: () => FrontEnd,
) {
  const acoustic = new AcousticModel(library, views);
  const align = wordAligner({ acoustic, pronunciations: new Pronunciations(), newFrontEnd });
  return { align, close: () => acoustic.close() };
}
