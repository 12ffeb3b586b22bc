import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { vocabularyProblems, vocabularyText } from "../text/vocabulary.ts";
import { CandidatesChoice } from "./candidates-choice.tsx";
import { PhraseRows } from "./phrase-rows.tsx";
import { changePhrase, phrasesQuery, states, type Phrase, type State } from "./phrases-query.ts";
import "./vocabulary.css";

const EditPhrase = loadLater(() =>
  import("./edit-phrase.tsx").then(({ EditPhrase }) => EditPhrase),
);
const ImportPhrases = loadLater(() =>
  import("./import-phrases.tsx").then(({ ImportPhrases }) => ImportPhrases),
);
const RemovePhrase = loadLater(() =>
  import("./remove-phrase.tsx").then(({ RemovePhrase }) => RemovePhrase),
);

/** The dialog that is open, with its phrase. */
type OpenDialog =
  | { readonly kind: "add" | "import" }
  | { readonly kind: "edit" | "remove"; readonly phrase: Phrase };

/** The vocabulary of the account: what recognition uses, what is suggested, what was rejected. */
export function VocabularyPage() {
  const t = useText();
  const { scopes } = useSession();
  const mayWrite = scopes.includes("transcripts.write");
  const [state, setState] = useState<State>("ACTIVE");
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  return (
    <>
      <PageHead title={t(commonText.vocabulary)} sub={t(vocabularyText.sub)}>
        {mayWrite && (
          <>
            <Button look="primary" onPress={() => setDialog({ kind: "add" })}>
              {t(vocabularyText.add)}
            </Button>
            <Button onPress={() => setDialog({ kind: "import" })}>
              {t(vocabularyText.importLines)}
            </Button>
          </>
        )}
      </PageHead>
      <div className="phrase-states">
        <Choice<State>
          label={t(vocabularyText.states)}
          value={state}
          options={states.map((value) => ({ value, text: t(vocabularyText.stateOf[value]) }))}
          onChange={setState}
        />
      </div>
      {state === "CANDIDATE" && scopes.includes("account") && <CandidatesChoice />}
      <Phrases key={state} state={state} mayWrite={mayWrite} onOpen={setDialog} />
      {dialog?.kind === "add" && <EditPhrase onClose={close} />}
      {dialog?.kind === "edit" && <EditPhrase edited={dialog.phrase} onClose={close} />}
      {dialog?.kind === "import" && <ImportPhrases onClose={close} />}
      {dialog?.kind === "remove" && <RemovePhrase removed={dialog.phrase} onClose={close} />}
    </>
  );
}

function Phrases({
  state,
  mayWrite,
  onOpen,
}: {
  readonly state: State;
  readonly mayWrite: boolean;
  readonly onOpen: (dialog: OpenDialog) => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const list = useInfiniteQuery(phrasesQuery(state));
  const move = useMutation({
    mutationFn: ({ phrase, to }: { readonly phrase: Phrase; readonly to: State }) =>
      changePhrase(queries, phrase.name, { state: to }),
    onSuccess: (_answer, { phrase, to }) => {
      const text = to === "ACTIVE" ? vocabularyText.accepted : vocabularyText.rejected;
      notify(t(text)(phrase.phrase), () =>
        changePhrase(queries, phrase.name, { state: phrase.state }),
      );
    },
  });
  const phrases = list.data?.pages.flatMap((page) => page.phrases) ?? [];
  return (
    <section aria-label={t(vocabularyText.stateOf[state])}>
      {list.error && <ProblemNote error={list.error} onRetry={() => void list.refetch()} />}
      {move.error && <ProblemNote error={move.error} own={vocabularyProblems} />}
      {list.isPending && <p className="quiet">{t(commonText.loading)}</p>}
      {list.data && phrases.length === 0 && (
        <p className="phrase-none">{t(vocabularyText.noneOf[state])}</p>
      )}
      {phrases.length > 0 && (
        <PhraseRows
          label={t(vocabularyText.stateOf[state])}
          phrases={phrases}
          mayWrite={mayWrite}
          isPending={move.isPending}
          onMove={(phrase, to) => move.mutate({ phrase, to })}
          onEdit={(phrase) => onOpen({ kind: "edit", phrase })}
          onRemove={(phrase) => onOpen({ kind: "remove", phrase })}
        />
      )}
      {list.hasNextPage && (
        <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          {t(vocabularyText.more)}
        </Button>
      )}
    </section>
  );
}
