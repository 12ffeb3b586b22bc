import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { AlignmentJobJson } from "../../../gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { loadLater } from "../../parts/load-later.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";
import { alignmentText } from "../../text/alignment.ts";
import { useText } from "../../text/language.tsx";
import { transcriptQuery } from "../transcript-query.ts";
import {
  alignmentError,
  alignmentQuery,
  cancelAlignment,
  isRunning,
  submitAlignment,
} from "./alignment-job.ts";
import { versionsQuery } from "./versions-query.ts";

const AlignmentProblem = loadLater(() =>
  import("./alignment-problem.tsx").then(({ AlignmentProblem }) => AlignmentProblem),
);

/**
 * A button that aligns the words of the current version to its sound again, and the progress. When
 * the job succeeds, the page shows the new version.
 */
export function Alignment({ name, version }: { readonly name: string; readonly version: string }) {
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  const query = alignmentQuery(name);
  const { data: job, error } = useQuery(query);
  const take = (taken: AlignmentJobJson): void => {
    queries.setQueryData(query.queryKey, taken);
  };
  const submit = useMutation({ mutationFn: () => submitAlignment(name, version), onSuccess: take });
  const cancel = useMutation({ mutationFn: cancelAlignment, onSuccess: take });
  const ended = useEnded(job ?? undefined);
  const succeeded = ended?.state === "SUCCESS" ? ended.name : undefined;
  useEffect(() => {
    if (succeeded === undefined) return;
    void queries.invalidateQueries({ queryKey: transcriptQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: versionsQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: ["transcripts"] });
    notify(t(alignmentText.done));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each job that succeeds
  }, [succeeded]);
  if (job && isRunning(job)) {
    const percent = job.progressPercent ?? 0;
    return (
      <div className="alignment">
        <p>{percent === 0 ? t(alignmentText.waiting) : t(alignmentText.running)(percent)}</p>
        <ProgressLine label={t(alignmentText.progress)} percent={percent || undefined} />
        <Button look="quiet" isPending={cancel.isPending} onPress={() => cancel.mutate(job)}>
          {t(alignmentText.cancel)}
        </Button>
        {cancel.error && <ProblemNote error={cancel.error} />}
      </div>
    );
  }
  const failure = ended?.state === "ERROR" ? alignmentError(ended) : undefined;
  const problem = submit.error ?? failure ?? error;
  return (
    <div className="alignment">
      <Button isPending={submit.isPending} onPress={() => submit.mutate()}>
        {t(alignmentText.align)}
      </Button>
      {problem && <AlignmentProblem error={problem} />}
    </div>
  );
}

/** Returns the job if it was seen running before it ended; a job that ended earlier is not news. */
function useEnded(job: AlignmentJobJson | undefined): AlignmentJobJson | undefined {
  const [running, setRunning] = useState<string>();
  if (job?.name !== undefined && isRunning(job) && running !== job.name) setRunning(job.name);
  return job && !isRunning(job) && job.name === running ? job : undefined;
}
