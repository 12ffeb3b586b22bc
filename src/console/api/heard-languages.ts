import { queryOptions, useQuery } from "@tanstack/react-query";
import type {
  ListModelsResponseJson,
  Model_UseJson,
} from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { callApi } from "./call-api.ts";

/** What is offered while nobody knows what is installed. */
const usual: readonly string[] = ["is-IS", "en-US"];

/** The models that are installed. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async ({ signal }) => {
    const answer = await callApi<ListModelsResponseJson>("/v2beta1/models", { signal });
    return answer.models ?? [];
  },
  refetchInterval: 20_000,
});

/** The BCP 47 codes of the languages that models are installed for, the usual ones first. */
export function useHeardLanguages(use: Model_UseJson): readonly string[] {
  const { data: models = [] } = useQuery(modelsQuery);
  const heard = new Set(
    models
      .filter(({ uses }) => uses?.includes(use))
      .flatMap(({ languageCodes = [] }) => languageCodes),
  );
  if (heard.size === 0) return usual;
  return [...usual.filter((code) => heard.has(code)), ...heard].filter(
    (code, at, all) => all.indexOf(code) === at,
  );
}
