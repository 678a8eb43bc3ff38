-- of sections.sql
$sections$;

-- SET LOCAL in a script lasts until the end of the transaction.
SELECT set_config('default_toast_compression',
                  current_setting('sync_probe.toast_compression'), true);
