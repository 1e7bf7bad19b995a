/** One entry of the list: data only. */
export interface KnownServerEntry {
  readonly name: string;
  /** When these names were entered here, and the server's version where it was installed and run. */
  readonly observed: { readonly date: string; readonly version?: string };
  readonly npm?: readonly string[];
  readonly pypi?: readonly string[];
  /** Programs that an installation puts on the PATH. */
  readonly programs?: readonly string[];
  readonly images?: readonly string[];
  readonly hosts?: readonly string[];
  /** The name after `qm builtin`. */
  readonly builtin?: string;
  /** A command line that does much of the same, as an agent can use it while the server is unavailable. */
  readonly instead?: { readonly text: string; readonly date: string };
  /** Names, separated by white space. */
  readonly reads: string;
  readonly writes: string;
  /** Of `writes`: tools that only read while the server is in its provider's read-only mode. */
  readonly readsInMode?: string;
  /** Of `writes`: tools that remove or overwrite what cannot be brought back. */
  readonly destroys?: string;
}

/**
 * Classifies the tools of well-known servers by exact name. Includes names from earlier releases and from teams' own
 * configurations. A tool that discloses credentials does not count as reading, even if it changes nothing. A tool in
 * neither set counts as writing unless a trusted annotation calls it read-only, so a missing name can hide a tool but
 * never expose one.
 */
export const knownServerEntries: readonly KnownServerEntry[] = [
  {
    name: 'filesystem',
    observed: { date: '2026-11-16', version: '2026.8.31' },
    npm: ['@modelcontextprotocol/server-filesystem'],
    programs: ['mcp-server-filesystem'],
    instead: { text: 'use your own file tools, or commands such as `ls` and `cat`', date: '2026-11-18' },
    reads: `
      read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes
      directory_tree search_files get_file_info list_allowed_directories`,
    writes: 'write_file edit_file create_directory move_file delete_file',
    destroys: 'delete_file',
  },
  {
    name: 'git',
    observed: { date: '2026-11-16' },
    npm: ['@modelcontextprotocol/server-git'],
    pypi: ['mcp-server-git'],
    programs: ['mcp-server-git'],
    builtin: 'git',
    instead: { text: 'use the `git` command line', date: '2026-11-18' },
    reads: `
      git_status git_diff git_diff_staged git_diff_unstaged git_log git_show git_branch git_blame git_search`,
    writes: 'git_commit git_add git_reset git_create_branch git_checkout git_init',
    destroys: 'git_reset',
  },
  {
    name: 'memory',
    observed: { date: '2026-11-16', version: '2026.8.31' },
    npm: ['@modelcontextprotocol/server-memory'],
    programs: ['mcp-server-memory'],
    reads: 'read_graph search_nodes open_nodes query_entities get_entity',
    writes: `
      create_entities create_relations add_observations delete_entities delete_observations delete_relations
      create_entity create_relation update_entity delete_entity`,
    destroys: 'delete_entities delete_observations delete_relations delete_entity',
  },
  {
    name: 'fetch',
    observed: { date: '2026-11-16' },
    npm: ['@modelcontextprotocol/server-fetch', 'mcp-fetch-server'],
    pypi: ['mcp-server-fetch'],
    programs: ['mcp-server-fetch'],
    builtin: 'fetch',
    instead: { text: 'use `curl`', date: '2026-11-18' },
    reads: 'fetch fetch_url fetch_html fetch_markdown fetch_text fetch_txt fetch_json fetch_readable',
    writes: '',
  },
  {
    // Statements run in a read-only transaction, but `COMMIT; INSERT …` escapes from it.
    name: 'postgres',
    observed: { date: '2026-11-16' },
    npm: ['@modelcontextprotocol/server-postgres'],
    programs: ['mcp-server-postgres'],
    instead: { text: 'use the `psql` command line', date: '2026-11-18' },
    reads: 'list_tables describe_table query_table',
    writes: 'query execute_query',
    destroys: 'query execute_query',
  },
  {
    // Ships with the product and has no tools that write.
    name: 'pg-readonly',
    observed: { date: '2026-11-16' },
    builtin: 'pg-readonly',
    instead: { text: 'use the `psql` command line', date: '2026-11-18' },
    reads: 'query_table describe_table list_tables execute_query query',
    writes: '',
  },
  {
    name: 'github',
    observed: { date: '2026-11-16' },
    npm: ['@modelcontextprotocol/server-github'],
    programs: ['mcp-server-github', 'github-mcp-server'],
    images: ['ghcr.io/github/github-mcp-server'],
    hosts: ['api.githubcopilot.com'],
    instead: { text: 'use the `gh` command line', date: '2026-11-18' },
    reads: `
      actions_get actions_list download_workflow_run_artifact get_code_scanning_alert get_commit get_copilot_space
      get_dependabot_alert get_discussion get_discussion_comments get_file_contents get_gist
      get_global_security_advisory get_issue get_issue_comments get_job_logs get_label get_latest_release get_me
      get_notification_details get_project get_project_field get_project_item get_pull_request
      get_pull_request_comments get_pull_request_diff get_pull_request_files get_pull_request_reviews
      get_pull_request_status get_release_by_tag get_repository_tree get_tag
      get_team_members get_teams get_workflow_run get_workflow_run_logs get_workflow_run_usage issue_read
      list_branches list_code_scanning_alerts list_commits list_copilot_spaces list_dependabot_alerts
      list_discussion_categories list_discussions list_gists list_global_security_advisories list_issue_types
      list_issues list_label list_notifications list_org_repository_security_advisories list_project_fields
      list_project_items list_projects list_pull_requests list_releases list_repository_security_advisories
      list_starred_repositories list_sub_issues list_tags list_workflow_jobs
      list_workflow_run_artifacts list_workflow_runs list_workflows projects_get projects_list pull_request_read
      search_code search_issues search_orgs search_pull_requests search_repositories search_users`,
    // A secret-scanning alert shows the secret, so it needs more than read access.
    writes: `
      get_secret_scanning_alert list_secret_scanning_alerts actions_run_trigger add_comment_to_pending_review add_issue_comment add_project_item add_sub_issue
      assign_copilot_to_issue cancel_workflow_run create_and_submit_pull_request_review create_branch create_gist
      create_issue create_or_update_file create_pending_pull_request_review create_pull_request
      create_pull_request_review create_pull_request_with_copilot create_repository delete_file
      delete_pending_pull_request_review delete_project_item delete_workflow_run_logs dismiss_notification
      fork_repository issue_write label_write manage_notification_subscription
      manage_repository_notification_subscription mark_all_notifications_read merge_pull_request projects_write
      pull_request_review_write push_files remove_sub_issue reprioritize_sub_issue request_copilot_review
      rerun_failed_jobs rerun_workflow_run run_workflow star_repository sub_issue_write
      submit_pending_pull_request_review unstar_repository update_gist update_issue update_project_item
      update_pull_request update_pull_request_branch`,
    destroys: 'delete_file delete_pending_pull_request_review delete_project_item delete_workflow_run_logs',
  },
  {
    name: 'notion',
    observed: { date: '2026-11-16' },
    npm: ['@notionhq/notion-mcp-server'],
    programs: ['notion-mcp-server'],
    hosts: ['mcp.notion.com'],
    reads: `
      search fetch search_pages read_page notion-search notion-fetch notion-get-comments notion-get-self
      notion-get-teams notion-get-user notion-get-users notion-query-data-sources notion-query-database-view
      API-get-user API-get-users API-get-self API-post-search API-get-block-children API-retrieve-a-block
      API-retrieve-a-page API-retrieve-a-page-property API-retrieve-a-comment API-query-data-source
      API-retrieve-a-data-source API-list-data-source-templates API-retrieve-a-database API-retrieve-page-markdown
      API-post-database-query`,
    writes: `
      create_page update_page notion-create-comment notion-create-database notion-create-pages notion-create-view
      notion-duplicate-page notion-move-pages notion-update-data-source notion-update-database notion-update-page
      notion-update-view API-patch-block-children API-update-a-block API-delete-a-block API-patch-page API-post-page
      API-create-a-comment API-update-a-data-source API-create-a-data-source API-move-page API-update-page-markdown
      API-update-a-database API-create-a-database`,
    destroys: 'API-delete-a-block',
  },
  {
    name: 'supabase',
    observed: { date: '2026-11-16' },
    npm: ['@supabase/mcp-server-supabase'],
    programs: ['mcp-server-supabase'],
    hosts: ['mcp.supabase.com'],
    instead: { text: 'use the `supabase` command line', date: '2026-11-18' },
    reads: `
      sql_select list_tables list_extensions list_migrations list_projects get_project list_organizations
      get_organization get_cost get_project_url get_anon_key get_publishable_keys get_logs get_advisors
      generate_typescript_types list_edge_functions get_edge_function list_branches list_storage_buckets
      get_storage_config search_docs`,
    // execute_sql takes any statement. In the read-only mode it runs as a database user who can only read.
    readsInMode: 'execute_sql',
    writes: `
      execute_sql apply_migration create_project pause_project restore_project confirm_cost deploy_edge_function
      enable_branching create_branch delete_branch merge_branch reset_branch rebase_branch update_storage_config`,
    destroys: 'execute_sql apply_migration pause_project restore_project delete_branch reset_branch',
  },
  {
    name: 'obsidian',
    observed: { date: '2026-11-16' },
    pypi: ['mcp-obsidian'],
    programs: ['mcp-obsidian'],
    reads: `
      list_files_in_vault list_files_in_dir get_file_contents search obsidian_list_files_in_vault
      obsidian_list_files_in_dir obsidian_get_file_contents obsidian_batch_get_file_contents obsidian_simple_search
      obsidian_complex_search obsidian_get_periodic_note obsidian_get_recent_periodic_notes
      obsidian_get_recent_changes`,
    writes: `
      patch_content append_content delete_file obsidian_patch_content obsidian_append_content obsidian_put_content
      obsidian_delete_file`,
    destroys: 'delete_file obsidian_delete_file obsidian_put_content',
  },
  {
    name: 'slack',
    observed: { date: '2026-11-16' },
    npm: ['@modelcontextprotocol/server-slack'],
    programs: ['mcp-server-slack'],
    hosts: ['mcp.slack.com'],
    reads: `
      list_channels search_messages slack_list_channels slack_get_channel_history slack_get_thread_replies
      slack_get_users slack_get_user_profile`,
    writes: 'send_message slack_post_message slack_reply_to_thread slack_add_reaction slack_send_message',
  },
  {
    name: 'trello',
    observed: { date: '2026-11-16' },
    npm: ['@trello/mcp-server'],
    reads: 'list_boards list_cards',
    writes: 'create_card move_card',
  },
  {
    name: 'mongodb',
    observed: { date: '2026-11-16' },
    npm: ['mongodb-mcp-server'],
    programs: ['mongodb-mcp-server'],
    instead: { text: 'use the `mongosh` command line', date: '2026-11-18' },
    reads: `
      list-databases list-collections list-connections collection-schema collection-indexes collection-storage-size
      count find explain db-stats mongodb-logs list-knowledge-sources search-knowledge atlas-list-orgs
      atlas-list-projects atlas-list-clusters atlas-list-db-users atlas-list-alerts atlas-inspect-cluster
      atlas-inspect-access-list atlas-get-performance-advisor atlas-get-regions atlas-local-list-deployments
      atlas-streams-discover`,
    // An aggregation may end in $out or $merge. Whether it may write depends on how the server was started.
    writes: `
      aggregate aggregate-db connect disconnect export create-collection create-index insert-many update-many delete-many
      rename-collection drop-collection drop-database drop-index atlas-connect-cluster atlas-create-access-list
      atlas-create-cluster atlas-create-db-user atlas-create-free-cluster atlas-create-project atlas-load-sample-dataset
      atlas-pause-resume-cluster atlas-streams-build atlas-streams-manage atlas-streams-teardown atlas-upgrade-cluster
      atlas-local-connect-deployment atlas-local-create-deployment atlas-local-delete-deployment`,
    destroys: `
      delete-many drop-collection drop-database drop-index atlas-streams-teardown atlas-local-delete-deployment`,
  },
  {
    name: 'azure-devops',
    observed: { date: '2026-11-16' },
    npm: ['@azure-devops/mcp'],
    programs: ['mcp-server-azuredevops'],
    instead: { text: 'use the `az devops` command line', date: '2026-11-18' },
    reads: `
      core_list_projects core_list_project_teams core_get_identity_ids work wit_work_item wit_query wit_backlog
      repo_repository repo_pull_request repo_pull_request_thread repo_branch repo_file repo_search_commits
      pipelines_build pipelines_build_log pipelines_definition pipelines_run wiki search_code search_wiki
      search_workitem testplan testplan_show_test_results_from_build_id advsec_get_alerts advsec_get_alert_details`,
    // Attachments and artifacts can be saved to a file.
    writes: `
      wit_work_item_attachment wit_work_item_write wit_work_item_comment_write wit_work_item_link_write
      work_iteration_write work_capacity_write repo_pull_request_write repo_pull_request_thread_write repo_create_branch
      pipelines_artifact pipelines_write wiki_upsert_page testplan_test_plan_write testplan_test_suite_write
      testplan_test_case_write`,
  },
  {
    name: 'linear',
    observed: { date: '2026-11-16' },
    hosts: ['mcp.linear.app'],
    reads: `
      list_issues get_issue list_comments list_projects get_project list_teams get_team list_users get_user list_cycles
      list_documents get_document list_issue_statuses get_issue_status list_issue_labels list_project_labels
      search_documentation`,
    writes: `
      save_issue create_issue update_issue save_comment create_comment save_project create_project update_project
      create_document update_document create_issue_label create_attachment delete_attachment delete_comment`,
    destroys: 'delete_attachment delete_comment',
  },
  {
    name: 'atlassian',
    observed: { date: '2026-11-16' },
    hosts: ['mcp.atlassian.com'],
    instead: { text: 'use the `acli` command line', date: '2026-11-18' },
    reads: `
      search fetch searchConfluence getConfluenceContent searchConfluenceUsingCql getConfluencePage getConfluenceSpaces
      getPagesInConfluenceSpace searchJiraIssuesUsingJql getJiraIssue getAccessibleAtlassianResources
      getVisibleJiraProjects listJiraProjects`,
    writes: `
      createConfluenceContent updateConfluenceContent createConfluencePage updateConfluencePage createJiraIssue
      editJiraIssue transitionJiraIssue addCommentToJiraIssue addOrEditJiraIssueComment execute`,
  },
  {
    name: 'everything',
    observed: { date: '2026-11-16', version: '2026.8.31' },
    npm: ['@modelcontextprotocol/server-everything'],
    programs: ['mcp-server-everything'],
    reads: `
      echo get-annotated-message get-resource-links get-resource-reference get-structured-content get-sum
      get-tiny-image trigger-long-running-operation`,
    // get-env shows all environment variables of the server, including credentials.
    writes: `
      get-env gzip-file-as-resource toggle-simulated-logging toggle-subscriber-updates simulate-research-query`,
  },
];
