import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { sessionQuery } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { useText } from "../text/language.tsx";
import { signInText } from "../text/sign-in.ts";
import { enter } from "./enter.ts";
import { forgetLink } from "./link.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

/** A form for signing in with an API key. The key stays in the field if it is refused. */
export function KeyForm({ look }: { readonly look: "plain" | "primary" }) {
  const t = useText();
  const queries = useQueryClient();
  const [apiKey, setApiKey] = useState("");
  const [isMissing, setIsMissing] = useState(false);
  const entering = useMutation({
    mutationFn: enter,
    onMutate: forgetLink,
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const key = apiKey.trim();
    setIsMissing(key === "");
    if (key !== "") entering.mutate({ apiKey: key });
  };
  return (
    <form className="key-form" onSubmit={submit} noValidate>
      <TextInput
        label={t(signInText.apiKey)}
        hint={t(signInText.apiKeyHint)}
        problem={isMissing ? t(signInText.apiKeyMissing) : undefined}
        type="password"
        autoComplete="current-password"
        value={apiKey}
        onChange={setApiKey}
      />
      {entering.error && <SignInProblem error={entering.error} />}
      <Button type="submit" look={look} isPending={entering.isPending}>
        {t(signInText.withKey)}
      </Button>
    </form>
  );
}
