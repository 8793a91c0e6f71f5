import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings, meQuery } from "../../queries.ts";
import { ErrorState } from "../error-state.tsx";
import { useLeaveGuard } from "../leave-guard.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { useSaving } from "../use-saving.ts";
import { keepDraft, readDraft } from "./comment-draft.ts";
import { CommentFields, isWritten } from "./comment-fields.tsx";
import { OneComment } from "./one-comment.tsx";

const PAGE = 20;

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
	const { data: me } = useQuery(meQuery);
	const userId = me?.id ?? "";
	const form = useForm({
		initialValues: readDraft(userId, id),
		onValuesChange: (values) => keepDraft(userId, id, values),
		validate: { text: isWritten },
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
	return (
		<form ref={element} noValidate onSubmit={saving.submit}>
			{question}
			<Stack gap="sm">
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not commented" />
				)}
				<CommentFields form={form}>
					<Button type="submit" loading={saving.isSaving}>
						Comment
					</Button>
				</CommentFields>
			</Stack>
		</form>
	);
}
