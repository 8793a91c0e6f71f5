import {
	Button,
	Group,
	ScrollArea,
	Select,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconPlus, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import { describeKind } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings } from "../../queries.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { clearButton } from "../clear-button.ts";
import { endOfId } from "../devices/device-name.ts";
import { Dialog } from "../dialog.tsx";
import { ErrorState } from "../error-state.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { showWithUndo } from "../undo.tsx";
import { CreateRecord, canCreateInPlace } from "./create-record.tsx";
import {
	foundKinds,
	isRegisterKind,
	type LinkedKind,
	labelOfLinked,
} from "./linkable.tsx";
import { type FoundRecord, recordsToLink } from "./records-to-link.ts";

const TYPING_MS = 200;

interface Props {
	organizationId: string;
	/** The id of the record that others are linked to. */
	id: string;
	/** The ids of the records that are linked already. */
	linked: readonly string[];
	/** The only kind to offer, such as measures for a control. */
	only?: LinkedKind;
}

/**
 * Finds records by their text or among those of a kind, creates missing ones, and links them. The
 * dialog stays open, because people often link several records.
 */
export function LinkDialog({
	opened,
	onClose,
	title = "Link a record",
	...props
}: Props & { opened: boolean; onClose: () => void; title?: string }) {
	return (
		<Dialog opened={opened} onClose={onClose} title={title} size="lg">
			<Search {...props} />
			<Group justify="flex-end" mt="md">
				<Button onClick={onClose}>Done</Button>
			</Group>
		</Dialog>
	);
}

function Search({ organizationId, id, linked, only }: Props) {
	const { mayWriteKind } = useOrganization();
	const [words, setWords] = useState("");
	const [kind, setKind] = useState<LinkedKind | null>(only ?? null);
	const [created, setCreated] = useState<FoundRecord[]>([]);
	const [query] = useDebouncedValue(words.trim(), TYPING_MS);
	const found = useQuery({
		...recordsToLink(organizationId, query, kind),
		enabled: query !== "" || kind !== null,
		placeholderData: keepPreviousData,
	});
	const isNew = new Set(created.map((record) => record.id));
	const records = (found.data ?? []).filter(
		(record) => record.id !== id && !isNew.has(record.id),
	);
	const areSimilar = records.some(({ isSimilar }) => isSimilar);
	return (
		<Stack gap="md">
			<Group role="search" align="flex-end" gap="sm">
				<TextInput
					type="search"
					label={only ? `Find ${labelOfLinked(only).toLowerCase()}` : "Find"}
					placeholder="Words from its name or text"
					data-autofocus
					maxLength={200}
					leftSection={<IconSearch size={16} aria-hidden />}
					value={words}
					onChange={({ currentTarget }) => setWords(currentTarget.value)}
					flex="1 1 220px"
				/>
				{!only && (
					<Select
						label="Among"
						placeholder="All kinds"
						clearable
						clearButtonProps={clearButton("All kinds")}
						data={foundKinds.map((value) => ({
							value,
							label: labelOfLinked(value),
						}))}
						value={kind}
						onChange={(chosen) => setKind(chosen as LinkedKind | null)}
						w={180}
					/>
				)}
			</Group>
			{created.length > 0 && (
				<Found records={created} from={id} linked={linked} label="Created" />
			)}
			{query === "" && !kind ? (
				<Text c="dimmed" size="sm">
					Type a word or two, or choose a kind to see its records.
				</Text>
			) : found.isError ? (
				<ErrorState error={found.error} onRetry={() => found.refetch()} />
			) : found.isPending ? (
				<RowsSkeleton rows={3} />
			) : records.length === 0 ? (
				<Text c="dimmed" size="sm">
					{query === ""
						? `There are no ${labelOfLinked(kind ?? "").toLowerCase()} yet.`
						: `Nothing matches. Use fewer words${only ? "" : ", or search all kinds"}.`}
				</Text>
			) : (
				<>
					{areSimilar && (
						<Text c="dimmed" size="sm" role="status">
							Nothing matches. These names are only similar:
						</Text>
					)}
					<ScrollArea.Autosize mah="45vh" type="auto" offsetScrollbars="y">
						<Found
							records={records}
							from={id}
							linked={linked}
							label={areSimilar ? "Similar names" : "Found"}
							isFaded={found.isPlaceholderData}
						/>
					</ScrollArea.Autosize>
				</>
			)}
			{kind && isRegisterKind(kind) && mayWriteKind(kind) && (
				<CreateInPlace
					kind={kind}
					onCreated={(record) => setCreated([record, ...created])}
				/>
			)}
		</Stack>
	);
}

/** Creates a record of the kind with its required fields, if these are few and short. */
function CreateInPlace({
	kind,
	onCreated,
}: {
	kind: RegisterKind;
	onCreated: (record: FoundRecord) => void;
}) {
	const [isOpen, setOpen] = useState(false);
	if (!canCreateInPlace(kind)) return null;
	return (
		<div>
			<Button
				variant="subtle"
				size="compact-sm"
				leftSection={<IconPlus size={14} aria-hidden />}
				onClick={() => setOpen(true)}
			>
				Create a {describeKind(kind).noun}
			</Button>
			{isOpen && (
				<CreateRecord
					kind={kind}
					onClose={() => setOpen(false)}
					onCreated={(id, name) => {
						setOpen(false);
						onCreated({ id, kind, name, beside: "" });
					}}
				/>
			)}
		</div>
	);
}

function Found({
	records,
	from,
	linked,
	label,
	isFaded = false,
}: {
	records: FoundRecord[];
	from: string;
	linked: readonly string[];
	label: string;
	isFaded?: boolean;
}) {
	return (
		<Stack
			component="ul"
			aria-label={label}
			aria-busy={isFaded}
			gap={0}
			p={0}
			m={0}
			style={{ listStyle: "none", opacity: isFaded ? 0.6 : 1 }}
		>
			{records.map((record) => (
				<Hit
					key={record.id}
					from={from}
					record={record}
					isLinked={linked.includes(record.id)}
				/>
			))}
		</Stack>
	);
}

function Hit({
	from,
	record,
	isLinked,
}: {
	from: string;
	record: FoundRecord;
	isLinked: boolean;
}) {
	const name = record.name ?? `Unnamed (${endOfId(record.id)})`;
	const ends = { record_id: from, linked_record_id: record.id };
	const linking = useMutation({
		mutationFn: () => call("linkRecords", ends),
		onSuccess: () => {
			void forgetReadings();
			showWithUndo(`“${name}” is linked.`, {
				rows: [record],
				nameOf: () => name,
				request: async () => {
					await call("unlinkRecords", ends);
					linking.reset();
				},
				done: () => "The link is removed.",
			});
		},
	});
	const isDone = isLinked || linking.isSuccess;
	return (
		<li>
			<Group wrap="nowrap" justify="space-between" py={6}>
				<div style={{ minWidth: 0 }}>
					<Text size="sm" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Text>
					<Text size="xs" c="dimmed">
						{[labelOfLinked(record.kind), record.beside]
							.filter(Boolean)
							.join(" · ")}
					</Text>
				</div>
				{/* After linking, the button stays in place so that it keeps the focus. */}
				<Button
					size="xs"
					variant="default"
					style={{ flexShrink: 0 }}
					aria-label={isDone ? `${name} is linked` : `Link ${name}`}
					aria-disabled={isDone}
					data-disabled={isDone}
					leftSection={isDone && <IconCheck size={14} aria-hidden />}
					onClick={() => {
						if (!isDone && !linking.isPending) linking.mutate();
					}}
				>
					{isDone ? "Linked" : "Link"}
				</Button>
			</Group>
			{linking.isError && (
				<ErrorState error={linking.error} title="Not linked" />
			)}
		</li>
	);
}
