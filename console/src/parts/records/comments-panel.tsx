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
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings, meQuery, operationQuery } from "../../queries.ts";
import { Confirm } from "../confirm.tsx";
import { ErrorState } from "../error-state.tsx";
import { useLeaveGuard } from "../leave-guard.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { DateTime } from "../time.tsx";
import { useSaving } from "../use-saving.ts";
import { keepDraft, readDraft } from "./comment-draft.ts";
import { CommentText } from "./comment-text.tsx";

const PAGE = 20;
const MAX_OFFERED = 100;

type Comment = OutputOf<"listComments">["comments"][number];

/** Shows the comments on a record, newest first, and lets the reader comment and watch. */
export function CommentsPanel({ id }: { id: string }) {
	const { mayWrite } = useOrganization();
	const comments = useInfiniteQuery({
		queryKey: ["listComments", id],
		queryFn: ({ pageParam, signal }) =>
			call(
				"listComments",
				{ record_id: id, size: PAGE, cursor: pageParam },
				{ signal },
			),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	const first = comments.data?.pages[0];
	const all = (comments.data?.pages ?? []).flatMap((page) => page.comments);
	return (
		<Paper withBorder p="lg" component="section" aria-label="Comments">
			<Group justify="space-between" mb="md">
				<Title order={2}>
					{first && first.total > 0 ? `Comments (${first.total})` : "Comments"}
				</Title>
				{first && mayWrite && <Watch id={id} isWatching={first.is_watching} />}
			</Group>
			{comments.isError ? (
				<ErrorState error={comments.error} onRetry={comments.refetch} />
			) : comments.isPending ? (
				<RowsSkeleton rows={2} />
			) : (
				<Stack>
					{mayWrite && <WriteComment key={id} id={id} />}
					{all.length === 0 && (
						<Text c="dimmed" size="sm">
							Nobody has commented yet.
						</Text>
					)}
					{all.map((comment) => (
						<OneComment key={comment.id} comment={comment} />
					))}
					{comments.hasNextPage && (
						<Button
							variant="default"
							style={{ alignSelf: "flex-start" }}
							loading={comments.isFetchingNextPage}
							onClick={() => comments.fetchNextPage()}
						>
							Show older comments
						</Button>
					)}
				</Stack>
			)}
		</Paper>
	);
}

function Watch({ id, isWatching }: { id: string; isWatching: boolean }) {
	const saving = useMutation({
		mutationFn: () =>
			call(isWatching ? "unwatchRecord" : "watchRecord", { record_id: id }),
		onSuccess: () => forgetReadings(),
	});
	const Icon = isWatching ? IconEyeOff : IconEye;
	return (
		<Group gap="xs">
			{saving.isError && (
				<Text size="sm" c="var(--mantine-color-error)" role="alert">
					{saving.error.message}
				</Text>
			)}
			<Button
				variant="default"
				leftSection={<Icon size={16} aria-hidden />}
				loading={saving.isPending}
				onClick={() => saving.mutate()}
			>
				{isWatching ? "Stop watching" : "Watch"}
			</Button>
		</Group>
	);
}

/** Keeps a comment that is not sent yet for when the reader comes back or reloads the page. */
function WriteComment({ id }: { id: string }) {
	const { organizationId } = useOrganization();
	const { data: me } = useQuery(meQuery);
	const userId = me?.id ?? "";
	const members = useQuery(
		operationQuery("listMembers", {
			organization_id: organizationId,
			size: MAX_OFFERED,
			order_by: { field: "name" },
		}),
	);
	const form = useForm({
		initialValues: readDraft(userId, id),
		onValuesChange: (values) => keepDraft(userId, id, values),
		validate: { text: (text) => (text.trim() ? null : "Enter a comment.") },
	});
	const saving = useSaving(
		form,
		({ text, mentioned_user_ids }) =>
			call("addComment", {
				record_id: id,
				text: text.trim(),
				mentioned_user_ids,
			}),
		() => {
			form.setValues({ text: "", mentioned_user_ids: [] });
			return forgetReadings();
		},
	);
	const element = useRef<HTMLFormElement>(null);
	const question = useLeaveGuard({
		area: element,
		isNeeded: () => form.getValues().text.trim() !== "",
		isSaving: saving.isSaving,
		isKept: true,
	});
	const others = (members.data?.members ?? []).filter(
		({ user_id }) => user_id !== userId,
	);
	const mentioned = form.values.mentioned_user_ids;
	return (
		<form ref={element} noValidate onSubmit={saving.submit}>
			{question}
			<Stack gap="sm">
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not commented" />
				)}
				<CommentText
					members={others.filter(({ user_id }) => !mentioned.includes(user_id))}
					onMention={(userId) =>
						form.setFieldValue("mentioned_user_ids", [...mentioned, userId])
					}
					value={form.values.text}
					onChange={(text) => form.setFieldValue("text", text)}
					error={form.errors.text}
				/>
				<Group align="flex-end" justify="space-between">
					{others.length > 0 && (
						<MultiSelect
							label="Mention"
							placeholder="Members who should see it"
							searchable
							flex="1 1 240px"
							maw={480}
							maxValues={20}
							data={others.map(({ user_id, name, email }) => ({
								value: user_id,
								label: `${name} (${email})`,
							}))}
							{...form.getInputProps("mentioned_user_ids")}
						/>
					)}
					<Button type="submit" loading={saving.isSaving}>
						Comment
					</Button>
				</Group>
			</Stack>
		</form>
	);
}

function OneComment({ comment }: { comment: Comment }) {
	const { mayAdmin } = useOrganization();
	const [isDeleting, setDeleting] = useState(false);
	return (
		<article aria-label={`Comment of ${comment.author_name}`}>
			<Group gap="xs" justify="space-between">
				<Text size="sm">
					<Text span fw={500} inherit>
						{comment.author_name}
					</Text>{" "}
					<Text span c="dimmed" inherit>
						<DateTime value={comment.created_at} />
						{comment.mentioned.length > 0 &&
							`, to ${comment.mentioned.map(({ name }) => name).join(", ")}`}
					</Text>
				</Text>
				{mayAdmin && (
					<Button
						variant="subtle"
						color="gray"
						size="compact-xs"
						aria-label={`Delete the comment of ${comment.author_name}`}
						onClick={() => setDeleting(true)}
					>
						Delete
					</Button>
				)}
			</Group>
			<Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
				{comment.text}
			</Text>
			{isDeleting && (
				<Confirm
					opened
					onClose={() => setDeleting(false)}
					title="Delete the comment?"
					action="Delete the comment"
					onConfirm={async () => {
						await call("deleteComment", { id: comment.id });
						await forgetReadings();
					}}
				>
					The history of the record still shows it.
				</Confirm>
			)}
		</article>
	);
}
