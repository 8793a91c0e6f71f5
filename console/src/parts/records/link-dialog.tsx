import {
	Button,
	Group,
	Modal,
	Select,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { clearButton } from "../clear-button.ts";
import { ErrorState } from "../error-state.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { foundKinds, LINKED_KINDS, type LinkedKind } from "./linkable.tsx";

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
 * Finds records by their text and links them. The dialog stays open, because people often link
 * several records.
 */
export function LinkDialog({
	opened,
	onClose,
	title = "Link a record",
	...props
}: Props & { opened: boolean; onClose: () => void; title?: string }) {
	return (
		<Modal
			opened={opened}
			onClose={onClose}
			title={title}
			size="lg"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Search {...props} />
			<Group justify="flex-end" mt="md">
				<Button onClick={onClose}>Done</Button>
			</Group>
		</Modal>
	);
}

function Search({ organizationId, id, linked, only }: Props) {
	const [words, setWords] = useState("");
	const [kind, setKind] = useState<string | null>(only ?? null);
	const [query] = useDebouncedValue(words.trim(), TYPING_MS);
	const found = useQuery({
		...operationQuery("searchRecords", {
			organization_id: organizationId,
			query,
			kinds: kind ? [kind] : foundKinds,
		}),
		enabled: query !== "",
		placeholderData: keepPreviousData,
	});
	const records = (found.data?.records ?? []).filter(
		(record) => record.id !== id,
	);
	return (
		<Stack gap="md">
			<Group align="flex-end" gap="sm">
				<TextInput
					type="search"
					label={only ? `Find ${LINKED_KINDS[only].toLowerCase()}` : "Find"}
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
							label: LINKED_KINDS[value],
						}))}
						value={kind}
						onChange={setKind}
						w={180}
					/>
				)}
			</Group>
			{query === "" ? (
				<Text c="dimmed" size="sm">
					Type a word or two to find what you want to link.
				</Text>
			) : found.isError ? (
				<ErrorState error={found.error} onRetry={() => found.refetch()} />
			) : found.isPending ? (
				<RowsSkeleton rows={3} />
			) : records.length === 0 ? (
				<Text c="dimmed" size="sm">
					Nothing matches. Use fewer words{only ? "" : ", or search all kinds"}.
				</Text>
			) : (
				<Stack
					component="ul"
					aria-label="Found"
					gap={0}
					p={0}
					m={0}
					style={{
						listStyle: "none",
						opacity: found.isPlaceholderData ? 0.6 : 1,
					}}
				>
					{records.map((record) => (
						<Hit
							key={record.id}
							from={id}
							record={record}
							isLinked={linked.includes(record.id)}
						/>
					))}
				</Stack>
			)}
		</Stack>
	);
}

function Hit({
	from,
	record,
	isLinked,
}: {
	from: string;
	record: { id: string; kind: string; name: string | null };
	isLinked: boolean;
}) {
	const linking = useMutation({
		mutationFn: () =>
			call("linkRecords", { record_id: from, linked_record_id: record.id }),
		onSuccess: () => void forgetReadings(),
	});
	const name = record.name ?? "Unnamed";
	const isDone = isLinked || linking.isSuccess;
	return (
		<li>
			<Group wrap="nowrap" justify="space-between" py={6}>
				<div style={{ minWidth: 0 }}>
					<Text size="sm" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Text>
					<Text size="xs" c="dimmed">
						{LINKED_KINDS[record.kind as LinkedKind]}
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
