import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { SETUP_LINK_HOURS } from "../../../../src/sign-in/link-hours.ts";
import { request } from "../../api.ts";
import { signIn } from "../../auth.ts";
import { COMMAND } from "../../command.ts";
import { CopyField } from "../../parts/copy-field.tsx";
import { ownTimeZone } from "../../parts/days.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { NewPasswordInput } from "../../parts/password-fields.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { queryClient } from "../../queries.ts";
import { Card } from "./card.tsx";
import { linkQuery, setupQuery, useLinkToken } from "./link.ts";
import { LinkProblem, Message } from "./message.tsx";

/**
 * Creates the first administrator and organization. The visitor has the link that the service
 * printed.
 */
export function Page() {
	const token = useLinkToken();
	// True from the moment the set-up starts. The link is then used, and the page must not tell this
	// to the user who has just used it.
	const [isMaking, setMaking] = useState(false);
	const setup = useQuery({ ...setupQuery, enabled: !isMaking });
	const link = useQuery({
		...linkQuery("SETUP", token),
		enabled: !isMaking && token !== "" && setup.data?.setup_needed === true,
	});
	if (isMaking) return <Form token={token} onMaking={setMaking} />;
	if (setup.isError) {
		return (
			<Card>
				<PageHeader title="Set up Assay" />
				<ErrorState error={setup.error} onRetry={setup.refetch} />
			</Card>
		);
	}
	if (setup.data?.setup_needed === false) return <SetUpAlready />;
	if (setup.data && token === "") return <LinkNeeded />;
	if (link.isError) {
		return (
			<Card>
				<LinkProblem
					error={link.error}
					onRetry={link.refetch}
					title="This setup link no longer works"
					actions={<NewLink />}
				>
					It was replaced by a newer link or is more than {SETUP_LINK_HOURS}{" "}
					hours old. Print a new one on the server:
				</LinkProblem>
			</Card>
		);
	}
	if (link.data) return <Form token={token} onMaking={setMaking} />;
	return (
		<Card>
			<PageSkeleton />
		</Card>
	);
}

interface FormProps {
	token: string;
	/** Called with true when the set-up starts. It stays true until the user leaves the page. */
	onMaking: (isMaking: boolean) => void;
}

function Form(props: FormProps) {
	return (
		<Card>
			<SetupForm {...props} />
		</Card>
	);
}

/** What the set-up does, in order, while the user waits. */
const PARTS = [
	"Creating the organization and your account",
	"Signing you in",
	"Opening the first steps",
];

function SetupForm({ token, onMaking }: FormProps) {
	const navigate = useNavigate();
	const [part, setPart] = useState(0);
	const form = useForm({
		initialValues: { organization_name: "", name: "", email: "", password: "" },
	});
	const saving = useSaving(
		form,
		async (values) => {
			const { email, password } = values;
			onMaking(true);
			setPart(0);
			const { organization_id } = await request<{ organization_id: string }>(
				"/api/setup",
				{
					body: {
						...values,
						email: email.trim(),
						time_zone: ownTimeZone(),
						token,
					},
				},
			).catch((error: unknown) => {
				onMaking(false);
				throw error;
			});
			// The set-up is done already. If signing in now fails, the user can sign in on the sign-in
			// page.
			setPart(1);
			await signIn(email.trim(), password).catch(() => undefined);
			return organization_id;
		},
		async (org) => {
			setPart(2);
			queryClient.clear();
			await navigate({
				to: "/o/$org/first-steps",
				params: { org },
				replace: true,
			});
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<PageHeader
				title="Set up Assay"
				description="You become the administrator of the first organization. Both names can be changed later."
			/>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Nothing was set up" />
				)}
				<TextInput
					label="Name of the organization"
					name="organization"
					autoComplete="organization"
					autoFocus
					{...form.getInputProps("organization_name")}
				/>
				<TextInput
					label="Your name"
					name="name"
					autoComplete="name"
					{...form.getInputProps("name")}
				/>
				<TextInput
					type="email"
					label="Your e-mail address"
					description="You sign in with it."
					name="email"
					autoComplete="username"
					{...form.getInputProps("email")}
				/>
				<NewPasswordInput {...form.getInputProps("password")} />
				<Button type="submit" loading={saving.isSaving}>
					Set up Assay
				</Button>
				<Text size="sm" role="status" mih="1.4em">
					{saving.isSaving &&
						`${PARTS[part]} … (${part + 1} of ${PARTS.length})`}
				</Text>
			</Stack>
		</form>
	);
}

function SetUpAlready() {
	return (
		<Card>
			<Message
				title="Assay is set up"
				actions={<ButtonLink to="/">Go to Assay</ButtonLink>}
			>
				The setup link was already used. Sign in, or ask an administrator for an
				invitation.
			</Message>
		</Card>
	);
}

function LinkNeeded() {
	return (
		<Card>
			<Message title="Set up Assay" actions={<NewLink />}>
				The service printed a setup link when it started: open that link. It
				proves that you run the service. If you no longer have it, print a new
				one on the server:
			</Message>
		</Card>
	);
}

function NewLink(): ReactNode {
	return (
		<Stack gap="xs">
			<CopyField label="Command" value={`${COMMAND} setup-link`} />
			<Text size="sm" c="dimmed">
				It works once, within {SETUP_LINK_HOURS} hours, and replaces any earlier
				link.
			</Text>
		</Stack>
	);
}
