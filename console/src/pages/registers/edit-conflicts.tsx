import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import type { OutputOf } from "../../api.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ShortValue } from "../../parts/records/field-value.tsx";
import {
	referencesIn,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery, queryClient } from "../../queries.ts";
import { givenFields } from "./form-values.ts";

type Values = Record<string, unknown>;
type Saved = OutputOf<"getRecordHistory">["changes"][number];

/**
 * Returns the fields that were changed elsewhere since `began` to a value that differs from ours.
 */
export function conflictsOf(
	kind: KindDescription,
	changes: Values,
	began: AnyRecord,
	latest: AnyRecord,
): FieldDescription[] {
	return givenFields(kind).filter(
		({ name }) =>
			name in changes &&
			!isSame(shownValue(latest, name), shownValue(began, name)) &&
			!isSame(shownValue(latest, name), changes[name]),
	);
}

interface Question {
	fields: FieldDescription[];
	mine: Values;
	latest: AnyRecord;
	/** The last change of one of the fields, or undefined if it is not known. */
	saved: Saved | undefined;
	/**
	 * Called with the names of the fields that keep the reader's values, or with null to return to
	 * the form.
	 */
	answer: (mine: string[] | null) => void;
}

/** Asks which values to save for fields that were changed in two places at the same time. */
export function useConflictQuestion(
	kind: KindDescription,
	organizationId: string,
): {
	ask: (
		question: Omit<Question, "answer" | "saved">,
	) => Promise<string[] | null>;
	dialog: ReactNode;
} {
	const [question, setQuestion] = useState<Question | null>(null);
	const last = useRef(0);
	return {
		ask: async (asked) => {
			const saved = await findSaved(asked.latest.id, asked.fields);
			return new Promise((resolve) => {
				last.current++;
				setQuestion({
					...asked,
					saved,
					answer: (mine) => {
						setQuestion(null);
						resolve(mine);
					},
				});
			});
		},
		dialog: question && (
			<Conflicts
				key={last.current}
				kind={kind}
				organizationId={organizationId}
				{...question}
			/>
		),
	};
}

function Conflicts({
	kind,
	organizationId,
	fields,
	mine,
	latest,
	saved,
	answer,
}: Question & { kind: KindDescription; organizationId: string }) {
	useReturnFocus();
	const [chosen, setChosen] = useState<Record<string, string>>({});
	const names = useRecordNames(
		organizationId,
		referencesIn(kind, [latest, { ...latest, ...mine }]),
	);
	const { title, sides } = wordsFor(saved);
	const isChosen = fields.every(({ name }) => chosen[name]);
	return (
		<Dialog
			opened
			onClose={() => answer(null)}
			// The form waits for the answer, and no request runs.
			isWaiting={false}
			hasInput
			size="lg"
			title={title}
		>
			<Stack>
				<Text size="sm">
					<WhoSaved kind={kind} saved={saved} /> Choose what to keep. Your
					changes are not saved yet.
				</Text>
				{fields.map((field) => (
					<Radio.Group
						key={field.name}
						label={field.label}
						value={chosen[field.name] ?? null}
						onChange={(side) => setChosen({ ...chosen, [field.name]: side })}
					>
						<Stack gap={6} mt={6}>
							{Object.entries(sides).map(([side, label]) => (
								<Radio
									key={side}
									value={side}
									label={
										<Group gap={6} wrap="nowrap" align="flex-start">
											<Text span inherit c="dimmed" w={52} flex="none">
												{label}
											</Text>
											<ShortValue
												field={field}
												value={
													side === "mine"
														? mine[field.name]
														: shownValue(latest, field.name)
												}
												names={names}
											/>
										</Group>
									}
								/>
							))}
						</Stack>
					</Radio.Group>
				))}
				<Group justify="flex-end">
					<Button variant="default" onClick={() => answer(null)}>
						Back to the form
					</Button>
					<Button
						disabled={!isChosen}
						onClick={() =>
							answer(
								fields
									.map(({ name }) => name)
									.filter((name) => chosen[name] === "mine"),
							)
						}
					>
						Save
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

/** Number of entries of the history in which the change is looked for. */
const LOOKED_AT = 20;

/** Returns the last change of one of the fields, or undefined if it cannot be found. */
async function findSaved(
	id: string,
	fields: readonly FieldDescription[],
): Promise<Saved | undefined> {
	const { changes } = await queryClient
		.fetchQuery({
			...operationQuery("getRecordHistory", { id, size: LOOKED_AT }),
			// The change is newer than a history that was read before.
			staleTime: 0,
		})
		.catch(() => ({ changes: [] }));
	return changes.find(({ changes }) =>
		fields.some(({ name }) => name in changes),
	);
}

/** Returns the words for a change of the reader or of somebody else. */
function wordsFor(saved: Saved | undefined) {
	const own = { theirs: "Saved", mine: "Here" };
	if (!saved) return { title: "This record has changed", sides: own };
	if (!saved.is_own) {
		return {
			title: "Somebody else has changed this record",
			sides: { theirs: "Theirs", mine: "Yours" },
		};
	}
	return saved.actor_kind === "TOKEN"
		? { title: "You changed this with an API token", sides: own }
		: { title: "You changed this in another window", sides: own };
}

/** Says who has saved the other values, and when. */
function WhoSaved({
	kind: { noun },
	saved,
}: {
	kind: KindDescription;
	saved: Saved | undefined;
}) {
	if (!saved) {
		return `Since you opened the form, the ${noun} was saved by somebody else or in another window.`;
	}
	const when = <DateTime value={saved.at} />;
	if (saved.is_own) {
		return <>You saved other values after you opened this form ({when}).</>;
	}
	return (
		<>
			Since you opened the form, <b>{saved.actor_name}</b> has saved the {noun}{" "}
			({when}).
		</>
	);
}

function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
