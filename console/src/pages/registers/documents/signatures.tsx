import {
	Alert,
	Button,
	Checkbox,
	Group,
	Progress,
	SegmentedControl,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api.ts";
import { useOrganization } from "../../../organization.ts";
import { Confirm } from "../../../parts/confirm.tsx";
import { type Column, DataTable } from "../../../parts/data-table.tsx";
import { ErrorState } from "../../../parts/error-state.tsx";
import { RowsSkeleton } from "../../../parts/page-skeleton.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { DateTime } from "../../../parts/time.tsx";
import { inPast } from "../../../past.ts";
import { forgetReadings, forgotPasswordQuery } from "../../../queries.ts";
import { AskToSign } from "./ask-to-sign.tsx";
import { CopySignLink } from "./copy-sign-link.tsx";
import { CopySignLinks } from "./copy-sign-links.tsx";
import { HowTheySign } from "./how-they-sign.tsx";
import { Remind, RemindAll } from "./remind-signers.tsx";
import { type Signature, signedCount } from "./signed-by.ts";
import { InviteSigner, SignedHow, SignerReach } from "./signer-reach.tsx";
import type { Version } from "./statuses.ts";

const PAGE = 50;

/** Why a person who was asked need not sign. */
const ENDED = {
	SUPERSEDED: "A newer version is in force",
	ARCHIVED: "The document is archived",
	LEFT: "The person has left",
};

/** Shows who has signed a version and who has not, asks people, and lets the reader sign. */
export function Signatures({
	version,
	isInForce,
}: {
	version: Version;
	/** False if a newer version replaces this one, or the document is archived. */
	isInForce: boolean;
}) {
	const { mayWrite, day } = useOrganization();
	const [isAsking, setAsking] = useState(false);
	const { signatures_given: given, signatures_requested: missing } = version;
	const { signatures_ended: ended } = version;
	const all = given + missing;
	const mayAsk = mayWrite && isInForce;
	return (
		<section aria-label="Signatures">
			<Stack gap="sm">
				{!day && <Sign key={version.id} version={version} />}
				<Group justify="space-between">
					<Title order={3} fz="md">
						Signatures
					</Title>
					{mayAsk && (
						<Button variant="default" onClick={() => setAsking(true)}>
							Ask people to sign
						</Button>
					)}
				</Group>
				{all + ended === 0 ? (
					<Text size="sm" c="dimmed">
						{signedCount(version)}
					</Text>
				) : (
					<>
						<Text size="sm">{signedCount(version)}</Text>
						{all > 0 && (
							<Progress
								value={(100 * given) / all}
								color="green.7"
								aria-hidden
							/>
						)}
						{missing > 0 && mayAsk && <HowTheySign version={version} />}
						<List version={version} mayAsk={mayAsk} />
					</>
				)}
			</Stack>
			{isAsking && (
				<AskToSign version={version} onClose={() => setAsking(false)} />
			)}
		</section>
	);
}

/** Lets a reader who was asked sign the version, and confirms it afterwards. */
function Sign({ version }: { version: Version }) {
	const [hasRead, setRead] = useState(false);
	const signing = useMutation({
		mutationFn: () =>
			call("signDocumentVersion", {
				id: version.id,
				content_hash: version.content_hash ?? "",
			}),
		onSuccess: forgetReadings,
	});
	const signedAt = signing.data?.document_version_signature.signed_at;
	if (signedAt) {
		return (
			<Alert variant="outline" color="green" title="Signed" role="status">
				You signed version {version.version_number} on{" "}
				<DateTime value={signedAt} />.
			</Alert>
		);
	}
	if (version.waits_for_you !== "SIGNATURE") return null;
	return (
		<Alert variant="outline" title="You are asked to sign this version">
			<Stack align="flex-start">
				<Checkbox
					label="I have read this version and follow it"
					checked={hasRead}
					onChange={({ currentTarget }) => setRead(currentTarget.checked)}
				/>
				{signing.isError && (
					<ErrorState error={signing.error} title="Not signed" />
				)}
				<Button
					disabled={!hasRead}
					loading={signing.isPending}
					onClick={() => signing.mutate()}
				>
					Sign
				</Button>
			</Stack>
		</Alert>
	);
}

function List({ version, mayAsk }: { version: Version; mayAsk: boolean }) {
	const { organizationId, mayWrite, mayAdmin, day } = useOrganization();
	const sendsMail = useQuery(forgotPasswordQuery).data?.sends_mail;
	const [which, setWhich] = useState<"REQUESTED" | "SIGNED">("REQUESTED");
	const [withdrawn, setWithdrawn] = useState<Signature>();
	const [copied, setCopied] = useState<Signature>();
	const [invitedId, setInvitedId] = useState<string>();
	const input = inPast("listDocumentVersionSignatures", {
		document_version_id: version.id,
		state: which,
		size: PAGE,
	});
	const list = useInfiniteQuery({
		queryKey: ["listDocumentVersionSignatures", input],
		queryFn: ({ pageParam, signal }) =>
			call(
				"listDocumentVersionSignatures",
				{ ...input, cursor: pageParam },
				{ signal },
			),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	const rows = (list.data?.pages ?? []).flatMap(
		(page) => page.document_version_signatures,
	);
	const actions: Column<Signature> = {
		id: "actions",
		header: "Actions",
		cell: (one) => (
			<Group gap={4}>
				{sendsMail &&
					!one.ended &&
					(one.reach === "LINK" || one.reach === "ACCOUNT") && (
						<Remind signature={one} />
					)}
				{one.reach === "LINK" && !one.ended && (
					<Button
						variant="subtle"
						size="compact-sm"
						aria-label={`Copy link to sign for ${one.signer_name}`}
						onClick={() => setCopied(one)}
					>
						Copy link to sign
					</Button>
				)}
				{one.reach === "SECRET" && !one.ended && mayAdmin && (
					<Button
						variant="subtle"
						size="compact-sm"
						aria-label={`Invite ${one.signer_name} as a viewer`}
						onClick={() => setInvitedId(one.signed_by ?? undefined)}
					>
						Invite as a viewer
					</Button>
				)}
				<Button
					variant="subtle"
					size="compact-sm"
					aria-label={`Withdraw the request to ${one.signer_name}`}
					onClick={() => setWithdrawn(one)}
				>
					Withdraw
				</Button>
			</Group>
		),
	};
	const how: Column<Signature> = {
		id: "how",
		header: "How",
		cell: (one) =>
			one.state === "SIGNED" ? (
				<SignedHow signature={one} />
			) : one.ended ? (
				<Text size="sm">{ENDED[one.ended]}</Text>
			) : (
				<SignerReach signature={one} sendsMail={sendsMail} mayCopy={mayWrite} />
			),
	};
	const columns: Column<Signature>[] = [
		{
			id: "signer",
			header: "Person",
			cell: ({ signed_by, signer_name }) =>
				signed_by ? (
					<RecordLink
						organizationId={organizationId}
						kind="people"
						id={signed_by}
					>
						{signer_name}
					</RecordLink>
				) : (
					signer_name
				),
		},
		{
			id: "state",
			header: "Status",
			cell: ({ state, ended }) =>
				state === "SIGNED" ? (
					<StatusBadge tone="good" label="Signed" />
				) : ended ? (
					<StatusBadge tone="neutral" label="No longer needed" />
				) : (
					<StatusBadge tone="warning" label="Not signed" />
				),
		},
		{
			id: "when",
			header: which === "SIGNED" ? "Signed" : "Asked",
			cell: ({ signed_at, requested_at }) => (
				<DateTime value={signed_at ?? requested_at} />
			),
		},
		// How people could sign on a past day is not known.
		...(which === "REQUESTED" && day ? [] : [how]),
		...(which === "REQUESTED" && mayWrite ? [actions] : []),
	];
	return (
		<Stack gap="sm">
			<Group justify="space-between" gap="xs">
				<SegmentedControl
					size="xs"
					aria-label="Which signatures"
					value={which}
					onChange={(value) => setWhich(value as typeof which)}
					data={[
						{ value: "REQUESTED", label: "Not signed" },
						{ value: "SIGNED", label: "Signed" },
					]}
				/>
				{mayAsk && (
					<Group gap="xs">
						{sendsMail && <RemindAll version={version} />}
						<CopySignLinks version={version} />
					</Group>
				)}
			</Group>
			{list.isError ? (
				<ErrorState error={list.error} onRetry={() => list.refetch()} />
			) : list.isPending ? (
				<RowsSkeleton rows={3} />
			) : rows.length === 0 ? (
				<Text size="sm" c="dimmed">
					{which === "SIGNED"
						? "Nobody has signed yet."
						: "Everybody who was asked has signed."}
				</Text>
			) : (
				<DataTable label="Signatures" columns={columns} rows={rows} />
			)}
			{list.hasNextPage && (
				<Button
					variant="subtle"
					size="compact-sm"
					loading={list.isFetchingNextPage}
					onClick={() => list.fetchNextPage()}
				>
					Show more
				</Button>
			)}
			{copied && (
				<CopySignLink signature={copied} onClose={() => setCopied(undefined)} />
			)}
			{invitedId && (
				<InviteSigner
					personId={invitedId}
					onClose={() => setInvitedId(undefined)}
				/>
			)}
			<Confirm
				opened={withdrawn !== undefined}
				onClose={() => setWithdrawn(undefined)}
				title={`Withdraw the request to ${withdrawn?.signer_name}?`}
				action="Withdraw the request"
				onConfirm={async () => {
					if (withdrawn) {
						await call("cancelSignatureRequest", { id: withdrawn.id });
					}
					await forgetReadings();
				}}
			>
				The person will no longer be asked to sign this version.
			</Confirm>
		</Stack>
	);
}
