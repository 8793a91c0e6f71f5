import {
	ActionIcon,
	Anchor,
	Box,
	Button,
	Group,
	Image,
	Paper,
	Text,
	Title,
} from "@mantine/core";
import {
	IconDownload,
	IconExternalLink,
	IconEye,
	IconUnlink,
} from "@tabler/icons-react";
import { useState } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { dayShown } from "../../past.ts";
import { forgetReadings } from "../../queries.ts";
import { downloadUrl, previewUrl } from "../../upload.ts";
import { Confirm } from "../confirm.tsx";
import { dayAfter, formatDay } from "../days.ts";
import { LateModal } from "../late-modal.tsx";
import { StatusBadge } from "../status-badge.tsx";
import { DateTime } from "../time.tsx";

/** Evidence that counts for at most these days more gets a warning. */
const EXPIRY_WARNING_DAYS = 30;
const SHOWN = /^(image\/(gif|jpeg|png|webp)|application\/pdf)$/;

interface StoredFile {
	file_name: string;
	content_type: string;
	size_bytes: number;
	sha256: string;
	uploaded_by: string;
	uploaded_at: string;
	has_content: boolean;
}

interface Evidence {
	id: string;
	name?: unknown;
	url?: unknown;
	file?: unknown;
}

const fileOf = ({ file }: Evidence) => (file ?? null) as StoredFile | null;

/** Says until when a piece of evidence counts. Renders nothing if it counts forever. */
export function Validity({ until }: { until: string | null | undefined }) {
	if (!until) return null;
	const today = dayShown();
	if (until < today) {
		return <StatusBadge tone="bad" label={`Expired ${formatDay(until)}`} />;
	}
	return until <= dayAfter(today, EXPIRY_WARNING_DAYS) ? (
		<StatusBadge tone="warning" label={`Expires ${formatDay(until)}`} />
	) : (
		<Text size="sm" c="dimmed">
			Until {formatDay(until)}
		</Text>
	);
}

/** The buttons of a piece of evidence in a list: open, preview, download, remove from the record. */
export function EvidenceActions({
	evidence,
	recordId,
}: {
	evidence: Evidence;
	/** The record that it can be removed from. */
	recordId?: string;
}) {
	const { mayWrite } = useOrganization();
	const [isUnlinking, setUnlinking] = useState(false);
	const name = String(evidence.name ?? "");
	const { url } = evidence;
	return (
		<>
			{typeof url === "string" && (
				<ActionIcon
					component="a"
					href={url}
					target="_blank"
					rel="noreferrer noopener"
					variant="subtle"
					color="gray"
					aria-label={`Open the link of ${name}`}
					title="Open the link"
				>
					<IconExternalLink size={16} aria-hidden />
				</ActionIcon>
			)}
			<FileButtons evidence={evidence} isSmall />
			{mayWrite && recordId !== undefined && (
				<ActionIcon
					variant="subtle"
					color="gray"
					aria-label={`Remove ${name} from this record`}
					title="Remove from this record"
					onClick={() => setUnlinking(true)}
				>
					<IconUnlink size={16} aria-hidden />
				</ActionIcon>
			)}
			<Confirm
				opened={isUnlinking}
				onClose={() => setUnlinking(false)}
				title="Remove the evidence from this record?"
				action="Remove from this record"
				onConfirm={async () => {
					await call("unlinkRecords", {
						record_id: recordId ?? "",
						linked_record_id: evidence.id,
					});
					await forgetReadings();
				}}
			>
				{name} stays in the register Evidence, with its file.
			</Confirm>
		</>
	);
}

function FileButtons({
	evidence,
	isSmall = false,
}: {
	evidence: Evidence;
	isSmall?: boolean;
}) {
	const [isShown, setShown] = useState(false);
	const file = fileOf(evidence);
	if (!file?.has_content) return null;
	const canShow = SHOWN.test(file.content_type);
	const href = downloadUrl(evidence.id);
	return (
		<>
			{canShow &&
				(isSmall ? (
					<ActionIcon
						variant="subtle"
						color="gray"
						aria-label={`Show ${file.file_name}`}
						title="Show"
						onClick={() => setShown(true)}
					>
						<IconEye size={16} aria-hidden />
					</ActionIcon>
				) : (
					<Button
						variant="default"
						leftSection={<IconEye size={16} aria-hidden />}
						onClick={() => setShown(true)}
					>
						Show
					</Button>
				))}
			{isSmall ? (
				<ActionIcon
					component="a"
					href={href}
					download={file.file_name}
					variant="subtle"
					color="gray"
					aria-label={`Download ${file.file_name}`}
					title={`Download, ${sizeInWords(file.size_bytes)}`}
				>
					<IconDownload size={16} aria-hidden />
				</ActionIcon>
			) : (
				<Button
					component="a"
					href={href}
					download={file.file_name}
					leftSection={<IconDownload size={16} aria-hidden />}
				>
					Download
				</Button>
			)}
			<LateModal
				opened={isShown}
				onClose={() => setShown(false)}
				title={file.file_name}
				size="80rem"
				closeButtonProps={{ "aria-label": "Close" }}
			>
				<Preview id={evidence.id} file={file} />
			</LateModal>
		</>
	);
}

function Preview({ id, file }: { id: string; file: StoredFile }) {
	return file.content_type === "application/pdf" ? (
		<Box
			component="iframe"
			src={previewUrl(id)}
			title={file.file_name}
			w="100%"
			h="75vh"
			bd={0}
		/>
	) : (
		<Image src={previewUrl(id)} alt={file.file_name} fit="contain" mah="75vh" />
	);
}

/** Describes the file of a piece of evidence on its page. Renders nothing if it has none. */
export function EvidenceFile({ evidence }: { evidence: Evidence }) {
	const file = fileOf(evidence);
	if (!file) return null;
	return (
		<Paper withBorder p="lg" component="section" aria-label="File">
			<Group justify="space-between" mb="md">
				<Title order={2}>File</Title>
				<Group gap="xs">
					<FileButtons evidence={evidence} />
				</Group>
			</Group>
			<Text style={{ overflowWrap: "anywhere" }}>
				{file.has_content ? (
					<Anchor href={downloadUrl(evidence.id)} download={file.file_name}>
						{file.file_name}
					</Anchor>
				) : (
					file.file_name
				)}
				, {sizeInWords(file.size_bytes)}
			</Text>
			<Text size="sm" c="dimmed">
				Added by {file.uploaded_by}, <DateTime value={file.uploaded_at} />
			</Text>
			<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
				SHA-256: {file.sha256}
			</Text>
			{!file.has_content && (
				<Text size="sm" mt="xs">
					The content is missing, because the service was restored from a backup
					without the contents of files. Add the same file again to bring it
					back.
				</Text>
			)}
		</Paper>
	);
}

function sizeInWords(bytes: number): string {
	const mebibytes = bytes / 1_048_576;
	if (mebibytes >= 1) return `${mebibytes.toFixed(1)} MB`;
	return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
