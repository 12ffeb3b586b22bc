import { infiniteQueryOptions, type QueryClient } from "@tanstack/react-query";
import type {
  ListVocabularyPhrasesResponseJson,
  VocabularyPhrase_StateJson,
  VocabularyPhraseJson,
} from "../../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { callApi } from "../api/call-api.ts";

/** The states of phrases, in the order in which the page offers them. */
export const states = ["ACTIVE", "CANDIDATE", "REJECTED"] as const satisfies readonly [
  ...VocabularyPhrase_StateJson[],
];
export type State = (typeof states)[number];

/** A phrase, as the page shows it. */
export interface Phrase {
  /** The name: "vocabularyPhrases/<id>". */
  readonly name: string;
  readonly phrase: string;
  readonly languageCode: string;
  readonly weight: number;
  readonly soundsLike: readonly string[];
  readonly state: State;
  readonly correctionCount: number;
}

const pageSize = 200;

/** The phrases of a state, in pages. */
export const phrasesQuery = (state: State) =>
  infiniteQueryOptions({
    queryKey: ["vocabulary", state],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const query = new URLSearchParams({ state, pageSize: `${pageSize}`, pageToken: pageParam });
      const path = `/v2beta1/vocabularyPhrases?${query.toString()}`;
      const page = await callApi<ListVocabularyPhrasesResponseJson>(path, { signal });
      const phrases = (page.phrases ?? []).map((each) => phraseOf(each, state));
      return { phrases, nextPageToken: page.nextPageToken ?? "" };
    },
    getNextPageParam: ({ nextPageToken }) => (nextPageToken === "" ? undefined : nextPageToken),
  });

/** The fields of a phrase that the page changes. */
type Changes = Partial<Pick<Phrase, "phrase" | "languageCode" | "weight" | "soundsLike" | "state">>;

/** Changes a phrase, and shows the change in the lists. Throws ApiError. */
export async function changePhrase(
  queries: QueryClient,
  name: string,
  body: Changes,
): Promise<void> {
  await callApi(`/v2beta1/${name}`, { method: "PATCH", body });
  await queries.invalidateQueries({ queryKey: ["vocabulary"] });
}

/** Adds a phrase that was deleted, in its state of before. Throws ApiError. */
export async function addAgain(
  queries: QueryClient,
  { phrase, languageCode, weight, soundsLike, state }: Phrase,
): Promise<void> {
  const body = { phrase, languageCode, weight, soundsLike, state };
  await callApi("/v2beta1/vocabularyPhrases", { method: "POST", body });
  await queries.invalidateQueries({ queryKey: ["vocabulary"] });
}

function phraseOf(json: VocabularyPhraseJson, state: State): Phrase {
  return {
    name: json.name ?? "",
    phrase: json.phrase ?? "",
    languageCode: json.languageCode ?? "",
    weight: Number(json.weight ?? 0),
    soundsLike: json.soundsLike ?? [],
    state,
    correctionCount: json.correctionCount ?? 0,
  };
}
