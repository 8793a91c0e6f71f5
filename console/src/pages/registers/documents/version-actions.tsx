import { Button, List, Text, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { call } from "../../../api.ts";
import { useOrganization } from "../../../organization.ts";
import { Confirm } from "../../../parts/confirm.tsx";
import { TextLink } from "../../../parts/links.tsx";
import { forgetReadings } from "../../../queries.ts";
import { Gaps } from "./gaps.tsx";
import type { Version, VersionRow } from "./statuses.ts";

type Action = "ask" | "publish" | "approve" | "reject" | "takeBack" | "delete";

/** Shows what the reader may do with a version that is not published. */
export function VersionActions({
	version,
	replaced,
	hasApprovers,
	onDeleted,
	onPublished,
}: {
	version: Version;
	/** The version that is in force until this one is published. */
	replaced: VersionRow | undefined;
	hasApprovers: boolean;
	onDeleted: () => unknown;
	/** Called when the user has published a version that nobody is asked to sign. */
	onPublished: () => void;
}) {
	const { mayWrite, mayAdmin } = useOrganization();
	const [open, setOpen] = useState<Action | null>(null);
	const [note, setNote] = useState("");
	const { id, status, version_number: number, waits_for_you: waits } = version;
	if (!mayWrite || status === "PUBLISHED") return null;
	const close = () => setOpen(null);
	const done = (message: string) => async () => {
		await forgetReadings();
		setNote("");
		notifications.show({ message });
	};
	const donePublishing = async (after: Version, message: string) => {
		await done(message)();
		const isPublished = after.status === "PUBLISHED";
		if (isPublished && after.signatures_requested === 0) onPublished();
	};
	const { approval_obstacles: obstacles } = version;
	const ended = <EndedRequests version={version} replaced={replaced} />;
	const isEmpty = version.content.trim() === "";
	return (
		<>
			{mayAdmin && (
				<Button
					variant="subtle"
					color="red.9"
					onClick={() => setOpen("delete")}
				>
					Delete …
				</Button>
			)}
			{status === "DRAFT" && (
				<Button
					variant="default"
					disabled={isEmpty}
					onClick={() => setOpen(hasApprovers ? "ask" : "publish")}
				>
					{hasApprovers ? "Ask for approval …" : "Publish …"}
				</Button>
			)}
			{status === "PENDING_APPROVAL" && (
				<>
					{version.may_reject ? (
						<Button variant="default" onClick={() => setOpen("reject")}>
							Reject …
						</Button>
					) : (
						version.may_take_back && (
							<Button variant="default" onClick={() => setOpen("takeBack")}>
								Take back …
							</Button>
						)
					)}
					{waits === "APPROVAL" && (
						<Button onClick={() => setOpen("approve")}>Approve …</Button>
					)}
				</>
			)}
			<Confirm
				opened={open === "ask"}
				onClose={close}
				title={`Ask for approval of version ${number}?`}
				action="Ask for approval"
				isDangerous={false}
				isBlocked={obstacles.length > 0}
				onConfirm={() =>
					call("requestDocumentVersionApproval", { id }).then(
						done("The approvers see it on their home page"),
					)
				}
			>
				{obstacles.length > 0 ? (
					<Obstacles version={version} />
				) : (
					<>
						<Gaps text={version.content} />
						Nobody can change the text while the approvers decide. The last
						approval publishes it.
						{ended}
					</>
				)}
			</Confirm>
			<Confirm
				opened={open === "publish"}
				onClose={close}
				title={`Publish version ${number}?`}
				action="Publish"
				isDangerous={false}
				onConfirm={() =>
					call("publishDocumentVersion", { id }).then(({ document_version }) =>
						donePublishing(document_version, `Version ${number} is published`),
					)
				}
			>
				<Gaps text={version.content} />
				The text never changes afterwards. This document has no approvers, so it
				is in force at once.
				{ended}
			</Confirm>
			<Confirm
				opened={open === "approve"}
				onClose={close}
				title={`Approve version ${number}?`}
				action="Approve"
				isDangerous={false}
				onConfirm={() =>
					call("approveDocumentVersion", {
						id,
						...(note.trim() && { note: note.trim() }),
					}).then(({ document_version }) =>
						donePublishing(document_version, "You approved the version"),
					)
				}
			>
				<Gaps text={version.content} />
				<Text mb="sm">
					The last approval publishes the version at once. If the document is
					reviewed regularly, its next review is then due one interval later.
					{ended}
				</Text>
				<Note label="Note (optional)" value={note} onChange={setNote} />
			</Confirm>
			<Confirm
				opened={open === "reject"}
				onClose={close}
				title={`Reject version ${number}?`}
				action="Reject"
				onConfirm={() =>
					call("rejectDocumentVersion", { id, note: note.trim() }).then(
						done("The version is a draft again"),
					)
				}
			>
				<Text mb="sm">
					The version becomes a draft again, and all approvals so far no longer
					count.
				</Text>
				<Note label="What has to change" value={note} onChange={setNote} />
			</Confirm>
			<Confirm
				opened={open === "takeBack"}
				onClose={close}
				title={`Take back version ${number}?`}
				action="Take back"
				isDangerous={false}
				onConfirm={() =>
					call("withdrawDocumentVersion", {
						id,
						...(note.trim() && { note: note.trim() }),
					}).then(done("The version is a draft again"))
				}
			>
				<Text mb="sm">
					The version becomes a draft again, and all approvals so far no longer
					count. The approvers are asked anew when you ask for approval again.
				</Text>
				<Note label="Why (optional)" value={note} onChange={setNote} />
			</Confirm>
			<Confirm
				opened={open === "delete"}
				onClose={close}
				title={`Delete version ${number}?`}
				action="Delete the version"
				onConfirm={async () => {
					await call("deleteDraftDocumentVersion", { id });
					await onDeleted();
					await done("The version is deleted")();
				}}
			>
				Its text is lost. Published versions stay.
			</Confirm>
		</>
	);
}

/** Says that nobody signs the version any more that this one replaces. Shows nothing if all have. */
function EndedRequests({
	version,
	replaced,
}: {
	version: Version;
	replaced: VersionRow | undefined;
}) {
	const count = replaced?.signatures_requested ?? 0;
	if (!replaced || count === 0) return null;
	const who =
		count === 1
			? "1 person has not signed it, and is"
			: `${count.toLocaleString()} people have not signed it, and are`;
	return (
		<Text span display="block" mt="sm" inherit>
			It replaces version {replaced.version_number}. {who}{" "}
			{version.asks_again
				? `asked to sign version ${version.version_number} instead.`
				: "no longer asked to. Ask people to sign the new version afterwards."}
		</Text>
	);
}

/** Says why the approvers cannot approve the version, and leads to where they are chosen. */
function Obstacles({ version }: { version: Version }) {
	const { organizationId } = useOrganization();
	return (
		<>
			<Text mb="xs">All approvers must approve, and this cannot happen:</Text>
			<List mb="xs">
				{version.approval_obstacles.map((obstacle) => (
					<List.Item key={obstacle}>{obstacle}.</List.Item>
				))}
			</List>
			<TextLink
				to="/o/$org/r/$kind/$id"
				params={{
					org: organizationId,
					kind: "document",
					id: version.document_id,
				}}
				search={{ edit: true }}
				underline="always"
			>
				Change the approvers
			</TextLink>
		</>
	);
}

function Note({
	label,
	value,
	onChange,
}: {
	label: string;
	value: string;
	onChange: (text: string) => void;
}) {
	return (
		<Textarea
			label={label}
			autosize
			minRows={2}
			maxRows={8}
			value={value}
			onChange={({ currentTarget }) => onChange(currentTarget.value)}
		/>
	);
}
