import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ModelTaskJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { callApi } from "../api/call-api.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { commonText } from "../text/common.ts";
import { when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText, numberText } from "../text/numbers.ts";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { useNow } from "../text/use-now.ts";
import { modelTasksQuery } from "./operator-queries.ts";
import "../parts/rows.css";

/** The latest tasks with models, with their progress and results. */
export function ModelTasks() {
  const t = useText();
  const { data, error, refetch } = useQuery(modelTasksQuery);
  const tasks = data?.modelTasks ?? [];
  if (error && !data) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (tasks.length === 0) return null;
  return (
    <section aria-labelledby="operator-tasks">
      <h3 id="operator-tasks">{t(operatorText.tasks)}</h3>
      <ul className="rows" aria-label={t(operatorText.tasks)}>
        {tasks.map((task) => (
          <TaskRow key={task.name} task={task} />
        ))}
      </ul>
    </section>
  );
}

function TaskRow({ task }: { readonly task: ModelTaskJson }) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => callApi(`/v1/operator/${task.name}:cancel`, { method: "POST", body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: modelTasksQuery.queryKey }),
  });
  const { model = "", kind = "MODEL_TASK_KIND_UNSPECIFIED", host, failure, testResult } = task;
  const { state = "MODEL_TASK_STATE_UNSPECIFIED", creationTime = "" } = task;
  const isOpen = state === "WAITING" || state === "RUNNING";
  return (
    <li className="row">
      <h4 className="title">
        {t(operatorText.kindOf[kind])}: {model}
      </h4>
      <div className="meta">
        <span>{host}</span>
        <span>{when(language, new Date(creationTime), now)}</span>
      </div>
      <div className={state === "FAILED" ? "side failed" : "side"}>
        {t(operatorText.taskStateOf[state])}
      </div>
      {state === "RUNNING" && kind === "PULL" && <Progress task={task} />}
      {failure !== undefined && failure !== "" && <p className="wide">{failure}</p>}
      {testResult && (
        <p className="wide">
          „{testResult.text}“{" "}
          {t(operatorText.figures)(
            numberText(language, Number(testResult.audioSeconds ?? 0), 1),
            numberText(language, Number(testResult.tookSeconds ?? 0), 1),
          )}
        </p>
      )}
      {isOpen && (
        <div className="wide operator-actions">
          <Button
            look="quiet"
            aria-label={t(operatorText.cancelOf)(model)}
            isPending={cancel.isPending}
            onPress={() => cancel.mutate()}
          >
            {t(commonText.cancel)}
          </Button>
        </div>
      )}
      {cancel.error && <ProblemNote error={cancel.error} own={operatorProblems} />}
    </li>
  );
}

function Progress({ task }: { readonly task: ModelTaskJson }) {
  const t = useText();
  const { language } = useLanguage();
  const [received, total] = [Number(task.receivedBytes ?? 0), Number(task.totalBytes ?? 0)];
  return (
    <div className="wide">
      <span className="quiet">
        {t(operatorText.received)(bytesText(language, received), bytesText(language, total))}
      </span>
      <ProgressLine
        label={t(operatorText.progressOf)(task.model ?? "")}
        percent={total === 0 ? undefined : Math.min(100, (100 * received) / total)}
      />
    </div>
  );
}
