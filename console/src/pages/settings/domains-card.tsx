import { Paper, Stack, Text, Title } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyField } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { AddDomain } from "./add-domain.tsx";
import { RowActions } from "./outgoing.tsx";

type Domain = OutputOf<"listDomains">["domains"][number];

/** How often the card asks while the service looks for a record. */
const CHECKING_MS = 1_500;

const FAILURES: Record<NonNullable<Domain["failure"]>, string> = {
	NOT_FOUND:
		"There was no such record. It can take an hour until every name server knows a new one.",
	OTHER_VALUE: "The record was there, but with another text.",
	NO_ANSWER: "No name server answered. Try again later.",
	TAKEN:
		"The record is right, but the domain is verified for another organization of this service. It must be removed there first.",
};

/** Manages the mail domains of the organization. */
export function DomainsCard({ organizationId }: { organizationId: string }) {
	const [error, setError] = useState<Error | null>(null);
	const [removing, setRemoving] = useState<Domain | null>(null);
	const { data } = useSuspenseQuery({
		...operationQuery("listDomains", { organization_id: organizationId }),
		refetchInterval: (query) =>
			query.state.data?.domains.some(({ is_checking }) => is_checking)
				? CHECKING_MS
				: false,
	});
	const verify = async ({ id }: Domain) => {
		try {
			setError(null);
			await call("verifyDomain", { organization_id: organizationId, id });
		} catch (reason) {
			setError(reason as Error);
		}
		await forgetReadings();
	};
	return (
		<Paper withBorder p="md" component="section" aria-label="Domains">
			<Title order={2} mb={4}>
				Domains
			</Title>
			<Text size="sm" c="dimmed" mb="md">
				A verified domain shows that mail addresses in it belong to this
				organization. Only users with such an address can be provisioned, and
				only their existing accounts can be linked to an identity provider of
				the organization. The domains below a domain are verified separately.
			</Text>
			<Stack>
				{error && <ErrorState error={error} title="Not verified" />}
				{data.domains.map((domain) => (
					<DomainRow
						key={domain.id}
						domain={domain}
						onVerify={() => verify(domain)}
						onRemove={() => setRemoving(domain)}
					/>
				))}
				<AddDomain organizationId={organizationId} />
			</Stack>
			<Confirm
				opened={removing !== null}
				onClose={() => setRemoving(null)}
				title="Remove the domain?"
				action="Remove the domain"
				onConfirm={async () => {
					if (!removing) return;
					await call("deleteDomain", {
						organization_id: organizationId,
						id: removing.id,
					});
					await forgetReadings();
				}}
			>
				No further user with an address in {removing?.domain} is provisioned.
				Members and their accounts stay.
			</Confirm>
		</Paper>
	);
}

function DomainRow({
	domain,
	onVerify,
	onRemove,
}: {
	domain: Domain;
	onVerify: () => void;
	onRemove: () => void;
}) {
	const needsRecord = domain.state !== "VERIFIED";
	return (
		<Paper withBorder p="sm" role="group" aria-label={domain.domain}>
			<Stack gap="xs">
				<Text fw={500} style={{ overflowWrap: "anywhere" }}>
					{domain.domain}
				</Text>
				<State domain={domain} />
				{needsRecord && (
					<>
						<Text size="sm">
							Publish this TXT record at the DNS provider of the domain, and
							then choose Verify now.
						</Text>
						<CopyField label="Name of the record" value={domain.record_name} />
						<CopyField label="Text of the record" value={domain.record_value} />
					</>
				)}
				<RowActions
					of={domain.domain}
					actions={{
						...(domain.verified_by !== "OPERATOR" && {
							[needsRecord ? "Verify now" : "Check again"]: onVerify,
						}),
						Remove: onRemove,
					}}
				/>
			</Stack>
		</Paper>
	);
}

function State({ domain }: { domain: Domain }) {
	const { state, verified_at, verified_by, kept_until, failure, checked_at } =
		domain;
	return (
		<div aria-live="polite">
			{domain.is_checking ? (
				<StatusBadge tone="active" label="Looking for the record …" />
			) : (
				<>
					{state === "VERIFIED" && <StatusBadge tone="good" label="Verified" />}
					{state === "RECORD_MISSING" && (
						<StatusBadge tone="warning" label="Record missing" />
					)}
					{state === "UNVERIFIED" && (
						<StatusBadge tone="neutral" label="Not verified" />
					)}
				</>
			)}
			{verified_at && (
				<Text size="xs" c="dimmed" mt={4}>
					{verified_by === "DNS"
						? "By the TXT record"
						: "By the operator of this service"}{" "}
					since <DateTime value={verified_at} />
				</Text>
			)}
			{kept_until && (
				<Text size="sm" mt={4}>
					The record of the domain is gone. Publish it again before{" "}
					<DateTime value={kept_until} />. Otherwise the domain is no longer
					verified.
				</Text>
			)}
			{failure && checked_at && !domain.is_checking && (
				<Text size="sm" mt={4}>
					{FAILURES[failure]} Last look: <RelativeTime value={checked_at} />
				</Text>
			)}
		</div>
	);
}
