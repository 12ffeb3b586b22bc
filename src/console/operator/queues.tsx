import { useQuery } from "@tanstack/react-query";
import type { QueueJson, QueuesJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { type Phrase, useLanguage, useText } from "../text/language.tsx";
import { lengthText, numberText } from "../text/numbers.ts";
import { operatorText } from "../text/operator.ts";
import { queuesQuery } from "./operator-queries.ts";
import { OperatorTable } from "./operator-table.tsx";

/** The queues of the service, the failures of the last day, and the jobs of each account. */
export function Queues() {
  const t = useText();
  const { data, error, refetch } = useQuery(queuesQuery);
  if (!data) {
    return error ? (
      <ProblemNote error={error} onRetry={() => void refetch()} />
    ) : (
      <p className="quiet operator-loading">{t(commonText.loading)}</p>
    );
  }
  return (
    <>
      <OperatorTable
        id="operator-queues"
        title={t(operatorText.queues)}
        columns={[
          t(operatorText.queue),
          t(operatorText.waiting),
          t(operatorText.running),
          t(operatorText.forContent),
          t(operatorText.oldest),
        ]}
      >
        {data.queues?.map((queue) => (
          <QueueRow key={queue.name} queue={queue} />
        ))}
      </OperatorTable>
      <Failures failures={data.failures ?? []} />
      <ByAccount accounts={data.accounts ?? []} />
    </>
  );
}

function QueueRow({ queue }: { readonly queue: QueueJson }) {
  const nameOf = useQueueName();
  const { language } = useLanguage();
  const { waiting = 0, running = 0, waitingForContent = 0, oldestWaitingSeconds = 0 } = queue;
  return (
    <tr>
      <th scope="row">{nameOf(queue.name)}</th>
      <td>{numberText(language, waiting)}</td>
      <td>{numberText(language, running)}</td>
      <td>{numberText(language, waitingForContent)}</td>
      <td>{waiting === 0 ? "–" : lengthText(language, oldestWaitingSeconds)}</td>
    </tr>
  );
}

function Failures({ failures }: { readonly failures: NonNullable<QueuesJson["failures"]> }) {
  const t = useText();
  const nameOf = useQueueName();
  const { language } = useLanguage();
  if (failures.length === 0) return <p className="quiet">{t(operatorText.noFailures)}</p>;
  return (
    <OperatorTable
      id="operator-failures"
      level={3}
      title={t(operatorText.failures)}
      columns={[t(operatorText.reason), t(operatorText.queue), t(operatorText.count)]}
    >
      {failures.map(({ queue, reason, count = 0 }) => (
        <tr key={`${queue} ${reason}`}>
          <th scope="row">{reason || t(operatorText.noReason)}</th>
          <td>{nameOf(queue)}</td>
          <td>{numberText(language, count)}</td>
        </tr>
      ))}
    </OperatorTable>
  );
}

function ByAccount({ accounts }: { readonly accounts: NonNullable<QueuesJson["accounts"]> }) {
  const t = useText();
  const { language } = useLanguage();
  if (accounts.length === 0) return null;
  return (
    <OperatorTable
      id="operator-jobs"
      level={3}
      title={t(operatorText.byAccount)}
      columns={[
        t(operatorText.account),
        t(operatorText.waiting),
        t(operatorText.running),
        t(operatorText.failed),
      ]}
    >
      {accounts.map(({ account, displayName, waiting = 0, running = 0, failed = 0 }) => (
        <tr key={account}>
          <th scope="row">{displayName || t(operatorText.unnamed)}</th>
          <td>{numberText(language, waiting)}</td>
          <td>{numberText(language, running)}</td>
          <td>{numberText(language, failed)}</td>
        </tr>
      ))}
    </OperatorTable>
  );
}

/** Returns a function that names a queue; one of a newer service keeps the name of the API. */
function useQueueName(): (name: string | undefined) => string {
  const t = useText();
  const names = new Map<string, Phrase<string>>(Object.entries(operatorText.queueOf));
  return (name = "") => {
    const known = names.get(name);
    return known ? t(known) : name;
  };
}
