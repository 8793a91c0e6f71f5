import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyField } from "../../parts/copy-field.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { IdentityProviderDialog } from "./identity-provider-dialog.tsx";
import { RowActions } from "./outgoing.tsx";

export type IdentityProvider =
	OutputOf<"listIdentityProviders">["identity_providers"][number];

/** Manages the identity providers of the organization. */
export function IdentityProvidersCard({
	organizationId,
}: {
	organizationId: string;
}) {
	return (
		<Paper
			withBorder
			p="md"
			component="section"
			aria-label="Identity providers"
		>
			<Title order={2} mb={4}>
				Identity providers
			</Title>
			<Text size="sm" c="dimmed" mb="md">
				People sign in with the account that they have at work. A provider can
				make new accounts, which reach this organization only. For addresses of
				a verified domain it also signs in people who have an account already,
				and they reach all their organizations.
			</Text>
			<IdentityProviders organizationId={organizationId} />
		</Paper>
	);
}

function IdentityProviders({ organizationId }: { organizationId: string }) {
	const [editing, setEditing] = useState<IdentityProvider | "new" | null>(null);
	const [shownId, setShownId] = useState<string | null>(null);
	const [ending, setEnding] = useState<{
		provider: IdentityProvider;
		deletes: boolean;
	} | null>(null);
	const [problem, setProblem] = useState<unknown>(null);
	const { data, error, refetch } = useQuery({
		...operationQuery("listIdentityProviders", {
			organization_id: organizationId,
		}),
		// The administrator comes back from a test in another tab.
		refetchOnWindowFocus: "always",
	});
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (!data) return <RowsSkeleton rows={2} />;
	const rows = data.identity_providers;
	const shown = rows.find(({ id }) => id === shownId);
	const one = (id: string) => ({ organization_id: organizationId, id });
	const switchOn = async ({ id, name }: IdentityProvider) => {
		setProblem(null);
		try {
			await call("updateIdentityProvider", { ...one(id), is_enabled: true });
			notifications.show({ message: `People can sign in with ${name}.` });
		} catch (reason) {
			setProblem(reason);
		}
		await forgetReadings();
	};
	const columns: Column<IdentityProvider>[] = [
		{
			id: "name",
			header: "Provider",
			cell: ({ name, issuer, kind }) => (
				<>
					<Text size="sm" fw={500}>
						{name}
					</Text>
					<Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
						{KIND_NAMES[kind]} · {issuer}
					</Text>
				</>
			),
		},
		{ id: "state", header: "Status", cell: (row) => <State of={row} /> },
		{
			id: "actions",
			header: "Actions",
			align: "right",
			cell: (row) => (
				<RowActions
					of={row.name}
					actions={{
						"Set up": () => setShownId(row.id === shownId ? null : row.id),
						...(row.is_enabled
							? {
									"Switch off": () =>
										setEnding({ provider: row, deletes: false }),
								}
							: row.tested_at !== null && {
									"Switch on": () => void switchOn(row),
								}),
						Change: () => setEditing(row),
						Delete: () => setEnding({ provider: row, deletes: true }),
					}}
				/>
			),
		},
	];
	return (
		<Stack>
			{problem !== null && (
				<ErrorState error={problem} title="Not switched on" />
			)}
			{rows.length > 0 && (
				<DataTable label="Identity providers" columns={columns} rows={rows} />
			)}
			{shown && <SetUp key={shown.id} provider={shown} />}
			<Group>
				<Button variant="default" onClick={() => setEditing("new")}>
					Add an identity provider
				</Button>
			</Group>
			{editing && (
				<IdentityProviderDialog
					organizationId={organizationId}
					provider={editing === "new" ? undefined : editing}
					onClose={() => setEditing(null)}
					onAdded={setShownId}
				/>
			)}
			<Confirm
				opened={ending !== null}
				onClose={() => setEnding(null)}
				title={
					ending?.deletes
						? "Delete the identity provider?"
						: "Switch the identity provider off?"
				}
				action={ending?.deletes ? "Delete the provider" : "Switch it off"}
				onConfirm={async () => {
					if (!ending) return;
					const { provider, deletes } = ending;
					await (deletes
						? call("deleteIdentityProvider", one(provider.id))
						: call("updateIdentityProvider", {
								...one(provider.id),
								is_enabled: false,
							}));
					await forgetReadings();
				}}
			>
				Everybody who signed in with {ending?.provider.name} is signed out.
				People without a password cannot sign in until another provider lets
				them in.
				{ending?.deletes &&
					" Assay forgets which accounts at the provider belong to its users."}
			</Confirm>
		</Stack>
	);
}

export const KIND_NAMES = { OIDC: "OpenID Connect", SAML: "SAML" } as const;

function State({ of: { is_enabled, tested_at } }: { of: IdentityProvider }) {
	if (is_enabled) return <StatusBadge tone="good" label="On" />;
	return (
		<>
			<StatusBadge tone="neutral" label="Off" />
			<Text size="xs" mt={4}>
				{tested_at === null ? (
					"Not tested yet"
				) : (
					<>
						Tested <RelativeTime value={tested_at} />
					</>
				)}
			</Text>
		</>
	);
}

/** Shows what the provider must know, the test, and the link for people. */
function SetUp({ provider }: { provider: IdentityProvider }) {
	const { name, sign_in_path, tested_at, is_enabled } = provider;
	return (
		<Stack gap="sm" role="group" aria-label={`Set up ${name}`}>
			<AboutAssay provider={provider} />
			<Text size="sm">
				2. Test the settings. The test opens {name} in a new tab. You sign in
				there as yourself, and nobody is signed in here.
			</Text>
			<Group>
				<Button
					component="a"
					variant="default"
					target="_blank"
					href={`${sign_in_path}&test=1`}
				>
					Test {name}
				</Button>
				{tested_at !== null && (
					<StatusBadge tone="good" label="The last test succeeded" />
				)}
			</Group>
			<Text size="sm">
				3. {is_enabled ? "It is switched on." : "Switch it on."} Give this link
				to your people. It leads to {name} and then to Assay.
			</Text>
			<CopyField
				label="Sign-in link"
				value={`${location.origin}${sign_in_path}`}
			/>
		</Stack>
	);
}

/** Shows what an administrator enters at the provider, and the certificates that it may use. */
function AboutAssay({
	provider: { name, callback_url, entity_id, certificates },
}: {
	provider: IdentityProvider;
}) {
	if (entity_id === null) {
		return (
			<>
				<Text size="sm">
					1. Enter these addresses at {name} for the application. The second one
					allows people to come back after they sign out there.
				</Text>
				<CopyField label="Redirect address" value={callback_url} />
				<CopyField
					label="Address after signing out"
					value={new URL("/sign-in", callback_url).href}
				/>
			</>
		);
	}
	return (
		<>
			<Text size="sm">
				1. At {name}, enter these two. The entity id is also the address of the
				metadata of Assay. {name} must sign its assertions and not encrypt them.
			</Text>
			<CopyField label="Entity id of Assay" value={entity_id} />
			<CopyField
				label="Assertion consumer service (ACS)"
				value={callback_url}
			/>
			{certificates.map(({ fingerprint, subject, valid_until }) => (
				<Text key={fingerprint} size="sm">
					Certificate {subject}: valid until <DateTime value={valid_until} />
				</Text>
			))}
		</>
	);
}
