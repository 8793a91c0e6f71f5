import { Alert, Button, Checkbox, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { RESET_LINK_HOURS } from "../../../../src/sign-in/link-hours.ts";
import type { Link } from "../../../../src/sign-in/one-time-link.ts";
import { request } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { NewPasswordInput } from "../../parts/password-fields.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { queryClient } from "../../queries.ts";
import { Card } from "./card.tsx";
import { linkQuery, useLinkToken } from "./link.ts";
import { LinkProblem, Message } from "./message.tsx";

type ResetLink = Extract<Link, { purpose: "PASSWORD_RESET" }>;

interface Done {
	email: string;
	live_api_tokens: number;
	revoked_api_tokens: number;
}

/** Sets a new password for a user who has a link from a mail or from an administrator. */
export function Page() {
	const token = useLinkToken();
	const link = useQuery(linkQuery("PASSWORD_RESET", token));
	const [done, setDone] = useState<Done | null>(null);
	if (done) return <PasswordSet done={done} />;
	return (
		<Card>
			{token === "" || link.isError ? (
				<LinkProblem
					error={link.error}
					onRetry={link.refetch}
					title="This link no longer works"
					actions={
						<>
							<ButtonLink to="/forgot-password">Get a new link</ButtonLink>
							<ButtonLink to="/sign-in" variant="default">
								Sign in
							</ButtonLink>
						</>
					}
				>
					It was used, replaced by a newer link, ended by a password change, or
					is more than {RESET_LINK_HOURS} hours old.
				</LinkProblem>
			) : link.data ? (
				<ResetForm token={token} link={link.data} onDone={setDone} />
			) : (
				<PageSkeleton />
			)}
		</Card>
	);
}

function ResetForm({
	token,
	link,
	onDone,
}: {
	token: string;
	link: ResetLink;
	onDone: (done: Done) => void;
}) {
	const form = useForm({
		initialValues: {
			password: "",
			revokes_tokens: true,
			removes_passkeys: true,
		},
	});
	const saving = useSaving(
		form,
		({ password, revokes_tokens, removes_passkeys }) =>
			request<Done>("/api/reset-password", {
				body: {
					token,
					password,
					keep_api_tokens: !revokes_tokens,
					keep_passkeys: !removes_passkeys,
				},
			}),
		(done) => {
			// Setting the new password has ended all sessions, including the one of this browser.
			queryClient.clear();
			onDone(done);
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<PageHeader
				title="Set a new password"
				description="This signs you out everywhere."
			/>
			<Stack>
				{saving.refusal && (
					<ErrorState
						error={saving.refusal}
						title="Your password was not changed"
					/>
				)}
				<TextInput
					type="email"
					label="Account"
					name="email"
					autoComplete="username"
					readOnly
					variant="filled"
					value={link.email}
				/>
				<NewPasswordInput
					label="New password"
					autoFocus
					{...form.getInputProps("password")}
				/>
				{link.live_api_tokens > 0 && !link.is_first_proof && (
					<Checkbox
						label={
							link.live_api_tokens === 1
								? "Revoke my API token"
								: `Revoke my ${link.live_api_tokens} API tokens`
						}
						description="Untick it only if nobody else can have used your account. Programs that use a revoked token stop working."
						{...form.getInputProps("revokes_tokens", { type: "checkbox" })}
					/>
				)}
				{link.passkeys > 0 && !link.is_first_proof && (
					<Checkbox
						label={
							link.passkeys === 1
								? "Remove my passkey"
								: `Remove my ${link.passkeys} passkeys`
						}
						description="Untick it only if nobody else can have used your account. Without a passkey, a second factor needs the authenticator app or a recovery code."
						{...form.getInputProps("removes_passkeys", { type: "checkbox" })}
					/>
				)}
				<Button type="submit" loading={saving.isSaving}>
					Set the password
				</Button>
			</Stack>
		</form>
	);
}

function PasswordSet({ done }: { done: Done }) {
	const { live_api_tokens: count, revoked_api_tokens: revoked } = done;
	return (
		<Card>
			<Message
				title="Your password is set"
				actions={<ButtonLink to="/sign-in">Sign in</ButtonLink>}
			>
				<Stack gap="sm">
					<span>
						Sign in as {done.email} with the new password. Two-factor
						authentication stays as it was.
					</span>
					{revoked > 0 && (
						<span>
							{revoked === 1
								? "Your API token was revoked."
								: `Your ${revoked} API tokens were revoked.`}
						</span>
					)}
					{count > 0 && (
						<Alert
							color="yellow"
							variant="outline"
							title={
								count === 1
									? "Your API token still works"
									: `Your ${count} API tokens still work`
							}
						>
							If somebody else may have used your account, revoke{" "}
							{count === 1 ? "it" : "them"} under Settings, API tokens.
						</Alert>
					)}
				</Stack>
			</Message>
		</Card>
	);
}
