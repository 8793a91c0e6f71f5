import { Button, Code, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { RESET_LINK_HOURS } from "../../../../src/sign-in/link-hours.ts";
import { request } from "../../api.ts";
import { COMMAND } from "../../command.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgotPasswordQuery } from "../../queries.ts";
import { Card } from "./card.tsx";
import { Message } from "./message.tsx";

/** Asks for the address to which the link for a forgotten password is mailed. */
export function Page() {
	const service = useQuery(forgotPasswordQuery);
	const [mailedTo, setMailedTo] = useState<string | null>(null);
	return (
		<Card>
			{service.isError ? (
				<>
					<PageHeader title="Forgot your password?" />
					<ErrorState error={service.error} onRetry={service.refetch} />
				</>
			) : !service.data ? (
				<PageSkeleton />
			) : !service.data.sends_mail ? (
				<NoMail />
			) : mailedTo === null ? (
				<AskForMail onSent={setMailedTo} />
			) : (
				<Message
					title="Check your mail"
					actions={<BackToSignIn label="Back to sign-in" />}
				>
					<Stack gap="sm">
						<Text>
							If there is an account for <b>{mailedTo}</b>, we have sent a link
							to set a new password. It works once, within {RESET_LINK_HOURS}{" "}
							hours.
						</Text>
						<Text size="sm" c="dimmed">
							No mail? Check your spam folder. The service sends at most three
							mails in 15 minutes.
						</Text>
					</Stack>
				</Message>
			)}
		</Card>
	);
}

function AskForMail({ onSent }: { onSent: (email: string) => void }) {
	const form = useForm({ initialValues: { email: "" } });
	const saving = useSaving(
		form,
		async ({ email }) => {
			await request("/api/forgot-password", { body: { email: email.trim() } });
			return email.trim();
		},
		onSent,
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<PageHeader
				title="Forgot your password?"
				description="We send you a link to set a new password."
			/>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="No mail was sent" />
				)}
				<TextInput
					type="email"
					label="E-mail address"
					name="email"
					autoComplete="username"
					autoFocus
					{...form.getInputProps("email")}
				/>
				<Button type="submit" loading={saving.isSaving}>
					Send me a link
				</Button>
				<TextLink to="/sign-in" size="sm" ta="center">
					Back to sign-in
				</TextLink>
			</Stack>
		</form>
	);
}

function NoMail() {
	return (
		<Message
			title="Forgot your password?"
			actions={<BackToSignIn label="Back to sign-in" />}
		>
			<Stack gap="sm">
				<Text>
					This service sends no mail. Ask an administrator of your organization
					for a password reset link. Administrators make it under Settings,
					Members.
				</Text>
				<Text size="sm" c="dimmed">
					If no administrator can help, ask the operator of the service to run{" "}
					<Code>{COMMAND} user reset-link --email you@example.com</Code>
				</Text>
			</Stack>
		</Message>
	);
}

function BackToSignIn({ label }: { label: string }) {
	return (
		<ButtonLink to="/sign-in" variant="default">
			{label}
		</ButtonLink>
	);
}
