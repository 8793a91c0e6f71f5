import { Alert, Button, Code, Progress, Stack, Text } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { CopyField } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { LateModal } from "../../parts/late-modal.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { DateTime } from "../../parts/time.tsx";

type Slice = OutputOf<"verifyAuditLog">;

/** The combined results of all slices that have been checked so far. */
interface Checked extends Slice {
	/** The number of entries in the log, as far as it is known. */
	total: number;
}

/**
 * Asks the server to check the hashes of the whole log, one slice at a time, because a log may be
 * long. To stop, the reader only has to close the dialog. After an error, the check can continue
 * where it stopped.
 */
export function VerifyLog({ onOpen }: { onOpen: (sequence: number) => void }) {
	const { organizationId } = useOrganization();
	const [isOpen, setOpen] = useState(false);
	const [checked, setChecked] = useState<Checked | null>(null);
	const stop = useRef<AbortController>(null);
	useReturnFocus(isOpen);
	const verifying = useMutation({
		mutationFn: async (before: Checked | null) => {
			const controller = new AbortController();
			stop.current = controller;
			const { signal } = controller;
			let sum = before;
			while (!sum?.is_complete) {
				const slice: Slice = await call(
					"verifyAuditLog",
					{
						organization_id: organizationId,
						...(sum?.last && { after: sum.last }),
					},
					{ signal },
				);
				if (signal.aborted) return;
				sum = addSlice(sum, slice);
				setChecked(sum);
			}
		},
	});
	const start = () => {
		setChecked(null);
		setOpen(true);
		verifying.mutate(null);
	};
	const close = () => {
		stop.current?.abort();
		verifying.reset();
		setOpen(false);
	};
	return (
		<>
			<Button
				variant="default"
				leftSection={<IconShieldCheck size={16} aria-hidden />}
				onClick={start}
			>
				Verify
			</Button>
			<LateModal
				opened={isOpen}
				onClose={close}
				size="lg"
				title="Verify the audit log"
				closeButtonProps={{ "aria-label": "Close" }}
			>
				{verifying.isError ? (
					<ErrorState
						error={verifying.error}
						onRetry={() => verifying.mutate(checked)}
					/>
				) : checked?.is_complete ? (
					<Verdict
						checked={checked}
						organizationId={organizationId}
						onOpen={(sequence) => {
							close();
							onOpen(sequence);
						}}
					/>
				) : (
					<Checking checked={checked} />
				)}
			</LateModal>
		</>
	);
}

function addSlice(sum: Checked | null, slice: Slice): Checked {
	const entries = (sum?.entries ?? 0) + slice.entries;
	return {
		...slice,
		entries,
		redacted: (sum?.redacted ?? 0) + slice.redacted,
		first_at: sum?.first_at ?? slice.first_at,
		last_at: slice.last_at ?? sum?.last_at ?? null,
		total: Math.max(slice.newest_sequence ?? 0, entries),
	};
}

function Checking({ checked }: { checked: Checked | null }) {
	const { entries = 0, total = 0 } = checked ?? {};
	return (
		<Stack gap="xs">
			<Text size="sm">
				{checked
					? `Checked ${entries.toLocaleString()} of ${counted(total)} …`
					: "Checking …"}
			</Text>
			<Progress
				value={total > 0 ? (100 * entries) / total : 0}
				aria-label="Entries checked"
			/>
			<Text size="xs" c="dimmed">
				If you close this window, the check stops. Nothing is changed.
			</Text>
		</Stack>
	);
}

function Verdict({
	checked: { finding, entries, unsealed, redacted, first_at, last_at, last },
	organizationId,
	onOpen,
}: {
	checked: Checked;
	organizationId: string;
	onOpen: (sequence: number) => void;
}) {
	if (finding) {
		const { sequence, problem, is_there } = finding;
		return (
			<Alert
				color="red"
				variant="outline"
				role="alert"
				title="The audit log was changed"
			>
				<Stack gap="sm" align="flex-start">
					<Text size="sm">
						First wrong entry: {problem}. All entries before it are correct.
						Later entries were not checked: <Code>assay audit verify</Code> on
						the server lists every wrong entry.
					</Text>
					{is_there && sequence !== null && (
						<Button
							variant="default"
							size="xs"
							onClick={() => onOpen(sequence)}
						>
							Show entry {sequence}
						</Button>
					)}
				</Stack>
			</Alert>
		);
	}
	return (
		<Stack>
			<Alert
				color="green"
				variant="outline"
				role="status"
				title="Audit log verified"
			>
				<Text size="sm">
					{counted(entries)}, from <DateTime value={first_at} to="zone" /> to{" "}
					<DateTime value={last_at} to="zone" />: each entry matches its hash
					and continues the one before it, and none is missing.
					{redacted > 0 &&
						` An erasure removed a person from ${redacted.toLocaleString()} of them, and has an entry of its own.`}
					{unsealed > 0 &&
						` ${counted(unsealed)} of the last seconds ${unsealed === 1 ? "is" : "are"} not sealed yet.`}
				</Text>
				<Text size="sm" mt="xs">
					If records were imported, the list has fewer entries, because it shows
					one for each import, and this number counts one for each record too.
				</Text>
			</Alert>
			{last && (
				<>
					<CopyField
						label="Newest entry"
						value={`${organizationId}:${last.sequence}:${last.hash}`}
					/>
					<Text size="sm" c="dimmed" component="div">
						Somebody with the database password could rewrite the whole chain or
						cut off its end. Only a copy reveals that: keep this line where that
						person cannot write, and later run{" "}
						<Code>assay audit verify --expect</Code> with it on the server.
					</Text>
				</>
			)}
		</Stack>
	);
}

function counted(entries: number): string {
	return `${entries.toLocaleString()} ${entries === 1 ? "entry" : "entries"}`;
}
