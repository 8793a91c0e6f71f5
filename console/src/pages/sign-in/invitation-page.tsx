import {
	Button,
	type ButtonProps,
	Divider,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Link } from "../../../../src/sign-in/one-time-link.ts";
import { call, request } from "../../api.ts";
import { type Me, signIn, signOut } from "../../auth.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { NewPasswordInput } from "../../parts/password-fields.tsx";
import {
	TokenChecklist,
	useTokenChecklist,
} from "../../parts/token-checklist.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { meQuery, queryClient } from "../../queries.ts";
import { Card } from "./card.tsx";
import { forgetInvitation, useInvitation } from "./kept-invitation.ts";
import { linkQuery, signInWaysQuery } from "./link.ts";
import { LinkProblem } from "./message.tsx";
import { ProviderButton } from "./provider.tsx";

const AS_ROLE: Record<Invitation["role"], string> = {
	viewer: "As a viewer you can read devices and records, and change nothing.",
	member:
		"As a member you can read devices and records, and add and change records.",
	admin:
		"As an administrator you can do everything in the organization, including inviting others.",
};

/** Lets the label of a button take several lines, because the name of an organization may be long. */
const WRAPS: ButtonProps = {
	h: "auto",
	mih: 36,
	py: 8,
	styles: {
		label: { height: "auto", whiteSpace: "normal", overflowWrap: "anywhere" },
	},
};

type Invitation = Extract<Link, { purpose: "INVITATION" }>;

/** Lets an invited visitor join, with a new account or an existing one. */
export function Page() {
	const token = useInvitation();
	const link = useQuery(linkQuery("INVITATION", token));
	const me = useQuery(meQuery);
	const enter = useEnter();
	const { via } = useSearch({ from: "/invitation" });
	// A new account accepts the invitation when it is made, so the link was used on the way.
	const hasJoined = via === "provider" && link.isError && me.data;
	useEffect(() => {
		if (hasJoined) void enter();
	});
	if (hasJoined) {
		return (
			<Card>
				<PageSkeleton />
			</Card>
		);
	}
	if (token === "" || link.isError) {
		return (
			<Card>
				<LinkProblem
					error={link.error}
					onRetry={link.refetch}
					title="This invitation no longer works"
					actions={<ButtonLink to="/">Go to Assay</ButtonLink>}
				>
					It was used, revoked, replaced by a newer one, or is more than seven
					days old. If you have accepted it, you are already a member. If not,
					ask an administrator of the organization for a new one.
				</LinkProblem>
			</Card>
		);
	}
	if (me.isError) {
		return (
			<Card>
				<PageHeader title="Invitation" />
				<ErrorState error={me.error} onRetry={me.refetch} />
			</Card>
		);
	}
	if (!link.data || me.data === undefined) {
		return (
			<Card>
				<PageSkeleton />
			</Card>
		);
	}
	const invitation = link.data;
	const props = { token, invitation, enter };
	return (
		<Card>
			<PageHeader
				title={`Join ${invitation.organization_name}`}
				description={`${invitation.invited_by} invites ${invitation.email} to ${invitation.organization_name} on Assay.`}
			/>
			<Stack style={{ overflowWrap: "anywhere" }}>
				<Text size="sm">{AS_ROLE[invitation.role]}</Text>
				{me.data?.email === invitation.email ? (
					<Accept {...props} />
				) : me.data ? (
					<SomebodyElse me={me.data} invitation={invitation} />
				) : (
					<SignedOut {...props} />
				)}
			</Stack>
		</Card>
	);
}

interface Joining {
	token: string;
	invitation: Invitation;
	enter: (organizationId?: string) => Promise<void>;
}

/**
 * Opens the organization after joining. The list of organizations is loaded again first, because it
 * does not contain the new one.
 */
function useEnter() {
	const navigate = useNavigate();
	return async (org?: string) => {
		forgetInvitation();
		queryClient.clear();
		await (org === undefined
			? navigate({ to: "/", replace: true })
			: navigate({ to: "/o/$org", params: { org }, replace: true }));
	};
}

function Accept({ token, invitation, enter }: Joining) {
	const checklist = useTokenChecklist("all");
	const accepting = useMutation({
		mutationFn: () =>
			call("acceptInvitation", { token, api_token_ids: checklist.tickedIds }),
		onSuccess: ({ organization }) => enter(organization.id),
	});
	return (
		<>
			{accepting.isError && (
				<ErrorState error={accepting.error} title="You have not joined" />
			)}
			<TokenChecklist
				checklist={checklist}
				label="API tokens that may reach this organization"
				description="Untick those that you do not know or do not need here. They stay limited to the organizations you belong to now."
			/>
			<Button
				{...WRAPS}
				loading={accepting.isPending || checklist.isPending}
				onClick={() => accepting.mutate()}
			>
				Join {invitation.organization_name}
			</Button>
			<TextLink to="/" size="sm" ta="center">
				Not now
			</TextLink>
		</>
	);
}

function SomebodyElse({ me, invitation }: { me: Me; invitation: Invitation }) {
	const leaving = useMutation({
		mutationFn: signOut,
		onSuccess: () => queryClient.invalidateQueries(meQuery),
	});
	return (
		<>
			<Text size="sm">
				You are signed in as {me.email}, and the invitation is for{" "}
				{invitation.email}. Sign out to accept it, or ask for an invitation to
				your own address.
			</Text>
			{leaving.isError && (
				<ErrorState error={leaving.error} title="You are still signed in" />
			)}
			<Button loading={leaving.isPending} onClick={() => leaving.mutate()}>
				Sign out and continue
			</Button>
			<TextLink to="/" size="sm" ta="center">
				Stay signed in as {me.name}
			</TextLink>
		</>
	);
}

function SignedOut(props: Joining) {
	const ways = useQuery(signInWaysQuery);
	if (ways.isError) {
		return <ErrorState error={ways.error} onRetry={ways.refetch} />;
	}
	if (!ways.data) return <PageSkeleton />;
	const { provider, has_passwords } = ways.data;
	return (
		<>
			{provider && (
				<ProviderButton provider={provider} to="/invitation?via=provider" />
			)}
			{has_passwords && (
				<>
					{provider && <Divider label="or with a password" />}
					<NewAccount {...props} isSecond={provider !== null} />
					<HasAccount />
				</>
			)}
		</>
	);
}

/**
 * Offers to sign in instead. The page does not know whether the address has an account, so it
 * always shows both ways.
 */
function HasAccount() {
	return (
		<Text size="sm">
			If you already have an account,{" "}
			<TextLink to="/sign-in" search={{ to: "/invitation" }} size="sm">
				sign in
			</TextLink>{" "}
			and then come back here. If you do not know its password,{" "}
			<TextLink to="/forgot-password" size="sm">
				set a new one
			</TextLink>
			.
		</Text>
	);
}

function NewAccount({
	token,
	invitation,
	enter,
	isSecond,
}: Joining & {
	/** True if the page shows another way first. */
	isSecond: boolean;
}) {
	const { email } = invitation;
	const form = useForm({ initialValues: { name: "", password: "" } });
	const saving = useSaving(
		form,
		async (values) => {
			const { organization_id } = await request<{ organization_id: string }>(
				"/api/join",
				{ body: { ...values, token } },
			);
			// The user has joined already. If signing in now fails, they can sign in on the sign-in page.
			await signIn(email, values.password).catch(() => undefined);
			return organization_id;
		},
		enter,
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="You have not joined" />
				)}
				<TextInput
					type="email"
					label="E-mail address"
					description="You will sign in with it."
					name="email"
					autoComplete="username"
					readOnly
					variant="filled"
					value={email}
				/>
				<TextInput
					label="Your name"
					name="name"
					autoComplete="name"
					autoFocus
					{...form.getInputProps("name")}
				/>
				<NewPasswordInput {...form.getInputProps("password")} />
				<Button
					{...WRAPS}
					type="submit"
					loading={saving.isSaving}
					{...(isSecond && { variant: "default" })}
				>
					Join {invitation.organization_name}
				</Button>
			</Stack>
		</form>
	);
}
