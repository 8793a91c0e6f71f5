import {
	Button,
	Group,
	MultiSelect,
	Paper,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { MAX_EMERGENCY_ACCOUNTS } from "../../../../src/sign-in/only-provider/max-emergency-accounts.ts";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { SaveButton } from "../../parts/save-button.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";

type Rule = OutputOf<"getSignInRule">["rule"];
type Administrator = Rule["administrators"][number];

/** Lets an administrator say that only the identity provider leads into the organization. */
export function OnlyProviderCard({
	organizationId,
}: {
	organizationId: string;
}) {
	const { data, error, refetch } = useQuery(
		operationQuery("getSignInRule", { organization_id: organizationId }),
	);
	return (
		<Paper
			withBorder
			p="md"
			component="section"
			aria-label={FIELD_LABELS.organization.only_provider}
		>
			<Title order={2} mb={4}>
				Only the identity provider
			</Title>
			<Text size="sm" c="dimmed" mb="md">
				When this is on, people reach this organization only after they sign in
				with its identity provider. A password or a passkey is not enough. API
				tokens and connected apps must be made after such a sign-in.
			</Text>
			{error ? (
				<ErrorState error={error} onRetry={refetch} />
			) : data ? (
				<Stack>
					<State rule={data.rule} />
					<EmergencyAccounts
						key={organizationId}
						organizationId={organizationId}
						rule={data.rule}
					/>
					<Switches organizationId={organizationId} rule={data.rule} />
				</Stack>
			) : (
				<RowsSkeleton rows={3} />
			)}
		</Paper>
	);
}

function State({ rule }: { rule: Rule }) {
	if (!rule.since) return <StatusBadge tone="neutral" label="Off" />;
	return (
		<div>
			<StatusBadge tone="good" label="On" />
			<Text size="xs" c="dimmed" mt={4}>
				Since <DateTime value={rule.since} />
			</Text>
		</div>
	);
}

const PROBLEMS: Record<NonNullable<Administrator["problem"]>, string> = {
	NO_PASSWORD: "has no password and no passkey",
	NO_SECOND_FACTOR: "has two-factor authentication off",
	NOT_ALLOWED: "must not use a password here",
};

/** Chooses the administrators who get in without the provider. */
function EmergencyAccounts({
	organizationId,
	rule,
}: {
	organizationId: string;
	rule: Rule;
}) {
	const form = useForm({ initialValues: valuesOf(rule) });
	const saving = useSaving(
		form,
		(values) =>
			call("updateSignInRule", { organization_id: organizationId, ...values }),
		async (saved) => {
			form.setInitialValues(valuesOf(saved.rule));
			form.reset();
			notifications.show({ message: "The emergency accounts are saved." });
			await forgetReadings();
		},
	);
	const used = rule.administrators.filter(
		(one) => one.is_named && one.last_used_at !== null,
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack gap="sm">
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<MultiSelect
					label={FIELD_LABELS.organization.emergency_accounts}
					description={`Administrators who get in without the provider if it fails. At most ${MAX_EMERGENCY_ACCOUNTS}. Each needs two-factor authentication. The other administrators get a mail when one is used.`}
					placeholder={
						form.values.emergency_user_ids.length === 0
							? "Choose an administrator"
							: ""
					}
					searchable
					maxValues={MAX_EMERGENCY_ACCOUNTS}
					data={rule.administrators.map(
						({ user_id, name, email, problem, is_named }) => ({
							value: user_id,
							label: `${name} (${email})${problem ? `: ${PROBLEMS[problem]}` : ""}`,
							disabled: problem !== null && !is_named,
						}),
					)}
					{...form.getInputProps("emergency_user_ids")}
				/>
				{used.map(({ user_id, name, last_used_at }) => (
					<Text key={user_id} size="sm">
						{name} used the emergency account{" "}
						<RelativeTime value={last_used_at ?? ""} />.
					</Text>
				))}
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}

function valuesOf({ administrators }: Rule) {
	return {
		emergency_user_ids: administrators
			.filter(({ is_named }) => is_named)
			.map(({ user_id }) => user_id),
	};
}

interface Change {
	title: string;
	action: string;
	text: ReactNode;
	fields: { only_provider?: boolean; accepts_older_tokens?: boolean };
	isDangerous?: boolean;
}

function Switches({
	organizationId,
	rule,
}: {
	organizationId: string;
	rule: Rule;
}) {
	const [change, setChange] = useState<Change | null>(null);
	const missing = whatIsMissing(rule);
	const changes = rule.only_provider ? changesOf(rule) : [switchOn(rule)];
	return (
		<>
			{rule.only_provider && <OlderTokens rule={rule} />}
			{missing && <Text size="sm">{missing}</Text>}
			{missing === SIGN_IN_FIRST && (
				<OwnSignIn organizationId={organizationId} />
			)}
			<Group>
				{changes.map((one) => (
					<Button
						key={one.action}
						variant="default"
						disabled={missing !== undefined}
						onClick={() => setChange(one)}
					>
						{one.action}
					</Button>
				))}
			</Group>
			<Confirm
				opened={change !== null}
				onClose={() => setChange(null)}
				title={change?.title ?? ""}
				action={change?.action ?? ""}
				isDangerous={change?.isDangerous ?? false}
				onConfirm={async () => {
					await call("updateSignInRule", {
						organization_id: organizationId,
						...change?.fields,
					});
					await forgetReadings();
				}}
			>
				{change?.text}
			</Confirm>
		</>
	);
}

/** Leads the administrator through the provider, and back to this page. */
function OwnSignIn({ organizationId }: { organizationId: string }) {
	const { data } = useQuery(
		operationQuery("listIdentityProviders", {
			organization_id: organizationId,
		}),
	);
	const providers = data?.identity_providers.filter((one) => one.is_enabled);
	if (providers?.length === 0) {
		return (
			<Text size="sm">
				No identity provider is switched on yet. Add one above, test it and
				switch it on.
			</Text>
		);
	}
	return (
		<Group>
			{providers?.map(({ id, name, sign_in_path }) => (
				<Button
					key={id}
					component="a"
					variant="default"
					href={`${sign_in_path}&${new URLSearchParams({ to: location.pathname })}`}
				>
					Sign in with {name}
				</Button>
			))}
		</Group>
	);
}

const SIGN_IN_FIRST =
	"To switch it on, sign in with the identity provider yourself, and come back. This shows that it works.";

/** Returns what has to happen before the rule can be switched on. */
function whatIsMissing(rule: Rule): string | undefined {
	if (rule.only_provider) return undefined;
	const isReady = rule.administrators.some(
		({ is_named, problem }) => is_named && problem === null,
	);
	if (!isReady) {
		return "Before you switch it on, choose an emergency account that can sign in without the provider, and save it.";
	}
	return rule.is_own_session_accepted ? undefined : SIGN_IN_FIRST;
}

function OlderTokens({
	rule: { older_tokens, accepts_older_tokens },
}: {
	rule: Rule;
}) {
	return (
		<Text size="sm">
			{!accepts_older_tokens
				? "API tokens and connected apps from before are shut out, unless they were made after a sign-in with the provider."
				: older_tokens === 0
					? "No API token was made without the provider."
					: `${countOfTokens(older_tokens)} made before, without the provider, and still reach this organization. The list under API tokens marks them.`}
		</Text>
	);
}

function countOfTokens(count: number): string {
	return count === 1
		? "1 API token or connected app was"
		: `${count} API tokens and connected apps were`;
}

function switchOn({
	members_without_provider: count,
	older_tokens,
}: Rule): Change {
	return {
		title: "Accept only the identity provider?",
		action: "Accept only the provider",
		isDangerous: true,
		text: (
			<Stack gap="xs">
				<Text>
					Everybody who signed in another way is locked out at once, except the
					emergency accounts.
				</Text>
				{count > 0 && (
					<Text>
						{count === 1
							? "1 member has never signed in with the provider."
							: `${count} members have never signed in with the provider.`}{" "}
						Those with an account already need an address in a verified domain.
					</Text>
				)}
				{older_tokens > 0 && (
					<Text>
						Existing API tokens keep working. You can shut them out afterwards.
					</Text>
				)}
			</Stack>
		),
		fields: { only_provider: true },
	};
}

function changesOf({ accepts_older_tokens, older_tokens }: Rule): Change[] {
	return [
		{
			title: "Accept every way to sign in?",
			action: "Accept every way again",
			text: "Members then also reach this organization with a password, a passkey and every API token.",
			fields: { only_provider: false },
		},
		...(accepts_older_tokens && older_tokens > 0
			? [
					{
						title: "Shut out the older API tokens?",
						action: "Shut out older tokens",
						isDangerous: true,
						text: "API tokens and connected apps that were made without the provider no longer reach this organization. Programs that use them stop working here. They keep working in other organizations.",
						fields: { accepts_older_tokens: false },
					},
				]
			: []),
		...(accepts_older_tokens
			? []
			: [
					{
						title: "Let the older API tokens in again?",
						action: "Let older tokens in",
						text: "API tokens and connected apps that were made before, without the provider, reach this organization again.",
						fields: { accepts_older_tokens: true },
					},
				]),
	];
}
