\set id random(1, :rows)
SELECT f_upsert(:id);
